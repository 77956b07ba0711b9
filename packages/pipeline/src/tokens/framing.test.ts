import * as fc from "fast-check";
import { encodeChat as encodeCl100k } from "gpt-tokenizer/model/gpt-4";
import { encodeChat as encodeO200k } from "gpt-tokenizer/model/gpt-4o";
import { describe, expect, it } from "vitest";
import { REAL_TEXTS } from "../testing/token-texts.ts";
import { countMessage } from "./counter.ts";
import { profileFor } from "./profiles.ts";

const chats = (names: fc.Arbitrary<string | undefined>) =>
  fc.array(
    fc.record({
      role: fc.constantFrom("system" as const, "user" as const, "assistant" as const),
      content: fc.oneof(fc.constantFrom(...Object.values(REAL_TEXTS)), fc.string({ maxLength: 40 })),
      name: names,
    }),
    { minLength: 1, maxLength: 6 },
  );

describe.each([
  ["gpt-4o", encodeO200k],
  ["gpt-4", encodeCl100k],
] as const)("the framing of %s, against another implementation's chat encoding", (model, encodeChat) => {
  const profile = profileFor(model);
  const count = (
    chat: readonly { role: "system" | "user" | "assistant"; content: string; name?: string | undefined }[],
  ) =>
    chat.reduce(
      (sum, { role, content, name }) =>
        sum + countMessage(profile, { role, content, ...(name === undefined ? {} : { name }) }),
      profile.framing.priming,
    );

  it("is exact and additive without names", () => {
    fc.assert(
      fc.property(chats(fc.constant(undefined)), (chat) => {
        const bare = chat.map(({ role, content }) => ({ role, content }));
        expect(count(bare)).toBe(encodeChat(bare).length);
      }),
      { seed: 20_260_110, numRuns: 300 },
    );
  });

  it("is at most two too high for each name", () => {
    fc.assert(
      fc.property(chats(fc.constantFrom("Max", "lighthouse_keeper")), (chat) => {
        const named = chat.map(({ name, ...rest }) => ({ ...rest, name: name ?? "Max" }));
        const excess = count(named) - encodeChat(named).length;
        expect(excess).toBeGreaterThanOrEqual(0);
        expect(excess).toBeLessThanOrEqual(2 * chat.length);
      }),
      { seed: 20_260_111, numRuns: 300 },
    );
  });
});
