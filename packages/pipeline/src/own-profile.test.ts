import { describe, expect, it } from "vitest";
import { fillMissingCounts } from "./audit/fill-counts.ts";
import { buildPrompt } from "./build-prompt.ts";
import { historyWindow } from "./history-window.ts";
import { countRequest } from "./stages/verify.ts";
import { aConversation, aMessage, anInput } from "./testing/conversation.ts";
import { tokenizerFile } from "./testing/tokenizer-file.ts";
import { calibrated } from "./tokens/calibration.ts";
import { createCounter } from "./tokens/counter.ts";
import { namedProfile, profileFor } from "./tokens/profiles.ts";
import type { Profile } from "./tokens/profile.ts";
import { tokenizerProfile } from "./tokens/tokenizer-profile.ts";

const signal = new AbortController().signal;
const model = "claude-3-opus";
const messages = Array.from({ length: 60 }, (_, at) =>
  aMessage(at + 1, { content: `The tide of day ${at}. `.repeat(8) }),
);
const settings = { model, budget: { contextLimit: 2_000, reservedForReply: 200 } };
const input = anInput(aConversation(messages), settings);
const build = (profile?: Profile) => buildPrompt({ ...input, profile }, signal);
const own = tokenizerProfile({
  id: "tokenizer:tok_1",
  version: 1,
  models: ["claude*"],
  file: tokenizerFile({ preTokeniser: "o200k", merges: "one" }),
});

describe("an assembly with a profile of its own", () => {
  it("counts everything by it, and keeps no margin when it is exact", async () => {
    const report = await build(own);
    expect(report.tokenizer).toEqual({ profile: "tokenizer:tok_1", approximate: false });
    expect(report.budget.margin).toBe(0);
    expect(report.request && countRequest(createCounter(own), report.request)).toBe(report.budget.promptTokens);
    const filled = fillMissingCounts(report.blocks, own, report.wire);
    expect(filled.every(({ tokens }) => tokens !== null)).toBe(true);
  });

  it("is another assembly for each factor of an estimate, and the same one for the same", async () => {
    const estimate = profileFor(model);
    const plain = await build();
    const [once, again, other] = await Promise.all(
      [1.1, 1.1, 1.12].map((factor, version) => build(calibrated(estimate, { version, factor }))),
    );
    expect(once?.tokenizer).toEqual({
      profile: estimate.id,
      approximate: true,
      calibration: { version: 0, factor: 1.1 },
    });
    expect(once?.assemblyHash).toBe(again?.assemblyHash);
    expect(new Set([plain, once, other].map((report) => report?.assemblyHash)).size).toBe(3);
    expect(once?.counts.included).toBeLessThan(plain.counts.included);
  });

  it("is counted afterwards with the factor its audit names", async () => {
    const profile = calibrated(profileFor(model), { version: 2, factor: 1.5 });
    const { tokenizer } = await build(profile);
    expect(namedProfile(tokenizer)?.countText("The tide turns.")).toBe(profile.countText("The tide turns."));
  });

  it("needs as much of the history as it takes to fill the window by its counts", () => {
    const isEnough = (profile?: Profile) =>
      historyWindow([input.settings], undefined, profile)?.isEnough(messages, { lorebooks: [] });
    expect(bytesFor(own)).toBeGreaterThan(bytesFor());
    expect(isEnough({ ...own, countText: () => 0 })).toBe(false);
  });

  function bytesFor(profile?: Profile): number {
    return historyWindow([input.settings], undefined, profile)?.bytes ?? 0;
  }
});
