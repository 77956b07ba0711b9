import { describe, expect, it } from "vitest";
import { buildPrompt } from "../build-prompt.ts";
import type { WireFacts } from "../prompt.ts";
import { aConversation, aMessage, answering, anInput, calling } from "../testing/conversation.ts";
import { namedProfile, PROFILES } from "../tokens/profiles.ts";
import { messagesOfBlocks } from "./messages-of-blocks.ts";
import { MOST_STORED_STEPS, readAuditDocument, toAuditDocument } from "./audit-document.ts";
import { fillMissingCounts } from "./fill-counts.ts";
import { promptContextAudit } from "./prompt-context-audit.ts";

const signal = new AbortController().signal;
const conversation = aConversation([
  aMessage(1, { hidden: true }),
  aMessage(2, { name: "Mary Ann" }),
  aMessage(3, { content: "What is the tide?" }),
  calling(4, ["c1", "c2"]),
  aMessage(5, { role: "assistant", content: "One moment." }),
  answering(6, "c2", { content: "" }),
  answering(7, "c1"),
  aMessage(9, { content: "And now?" }),
]);

const report = await buildPrompt(anInput(conversation), signal);
const document = toAuditDocument(report);

describe("toAuditDocument", () => {
  it("keeps the text of an included block once, in the request", () => {
    const included = document.blocks.filter((block) => block.order !== null);
    expect(included.map((block) => block.messageIndex)).toEqual(included.map((_block, index) => index));
    expect(included.every((block) => block.content === undefined && block.toolCalls === undefined)).toBe(true);
    expect(JSON.stringify(document).split("What is the tide?")).toHaveLength(2);
  });

  it("keeps the text of what was left out with its row", () => {
    const hidden = document.blocks.find((block) => block.id === "msg:m1");
    expect(hidden).toMatchObject({ included: false, messageIndex: null, content: "Message number 1." });
  });

  it("says how many steps it did not store", () => {
    const shiftSteps = Array.from({ length: MOST_STORED_STEPS + 3 }, (_, index) => ({
      step: index + 1,
      action: "drop" as const,
      blockIds: [`b${index}`],
      tokensBefore: 2,
      tokensAfter: 1,
    }));
    const stored = toAuditDocument({ ...report, shiftSteps });
    expect(stored.shiftSteps).toHaveLength(MOST_STORED_STEPS);
    expect(stored.shiftSteps.at(-1)?.step).toBe(MOST_STORED_STEPS + 3);
    expect(stored.omitted).toEqual({ blocks: 0, diagnostics: 0, shiftSteps: 3 });
  });
});

describe("readAuditDocument", () => {
  const content = readAuditDocument(JSON.parse(JSON.stringify(document)) as typeof document);

  it("gives every row back as it was reported", () => {
    expect(content.blocks).toEqual(report.blocks);
    expect(content.providerRequest).toEqual(report.request);
    expect(content.stages).toEqual(report.stages);
  });

  it("has included blocks that reproduce the messages the provider got", () => {
    expect(content.providerMessages).toEqual(report.request?.messages);
    expect(messagesOfBlocks(content.blocks)).toEqual(content.providerMessages);
  });

  it("keeps the text of protected blocks when there was no request", async () => {
    const failed = await buildPrompt(anInput(conversation, { budget: { contextLimit: 20 } }), signal);
    const read = readAuditDocument(toAuditDocument(failed));
    expect(read.providerRequest).toBeNull();
    expect(read.blocks).toEqual(failed.blocks);
    expect(read.error?.code).toBe("TOKEN_BUDGET_EXCEEDED");
  });
});

describe("fillMissingCounts", () => {
  it("counts what was left out uncounted and drops its bound", () => {
    const filled = fillMissingCounts(report.blocks, PROFILES["openai:o200k_base"]);
    const hidden = filled.find((block) => block.id === "msg:m1");
    const bound = report.blocks.find((block) => block.id === "msg:m1")?.tokensUpperBound ?? 0;
    expect(hidden?.tokens).toBeGreaterThan(4);
    expect(hidden?.tokens).toBeLessThanOrEqual(bound);
    expect(hidden?.tokensUpperBound).toBeUndefined();
    expect(filled.filter((block) => block.included)).toEqual(report.blocks.filter((block) => block.included));
  });

  it("counts as the wire of the audited request does", () => {
    const hiddenIn = (wire?: WireFacts) =>
      fillMissingCounts(report.blocks, PROFILES["openai:o200k_base"], wire).find(({ id }) => id === "msg:m1")?.tokens ??
      0;
    expect(hiddenIn({ shape: "text", format: "chatml", postProcessing: "none" })).toBeGreaterThan(hiddenIn() + 4);
  });

  it("changes nothing under a profile it does not know", () => {
    expect(fillMissingCounts(report.blocks, namedProfile({ profile: "gone", approximate: false }))).toBe(report.blocks);
  });
});

describe("promptContextAudit", () => {
  it("repeats its own facts as target 0", () => {
    const usage = { estimated: { inputTokens: report.budget.promptTokens }, reported: null, driftRatio: null };
    const facts = {
      generationId: "gen_1",
      chatId: "chat_1",
      attempt: 1,
      status: "prepared",
      errorCode: null,
      createdAt: "2026-01-02T03:04:05Z",
      finishedAt: null,
      provider: "echo",
      model: "gpt-4o",
      usage,
    } as const;
    const audit = promptContextAudit(facts, readAuditDocument(document));
    expect(audit.targets).toHaveLength(1);
    expect(audit.targets[0]).toMatchObject({ index: 0, provider: "echo", status: "prepared", shared: true, usage });
    expect(audit.targets[0]?.promptTokens).toBe(report.budget.promptTokens);
    expect(audit.providerMessages).toEqual(report.request?.messages);
  });
});
