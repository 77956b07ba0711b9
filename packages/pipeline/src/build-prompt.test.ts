import { describe, expect, it } from "vitest";
import { startAssembly, type AssemblyInput } from "./assembly.ts";
import { STAGE_NAMES } from "./block.ts";
import { buildPrompt, runStage, STAGES } from "./build-prompt.ts";
import type { ChatMessage } from "./conversation.ts";
import type { ChatRequestMessage } from "./prompt.ts";
import { AssemblyInputError } from "./errors.ts";
import { runRecount, runSerialize } from "./assembly-steps.ts";
import type { AssemblySettings } from "./settings.ts";
import { aConversation, aMessage, anInput, answering, calling, chatReport } from "./testing/conversation.ts";
import { createCounter } from "./tokens/counter.ts";
import { profileFor } from "./tokens/profiles.ts";
import { countRequest } from "./stages/verify.ts";

const signal = new AbortController().signal;
const build = (input: AssemblyInput) => buildPrompt(input, signal);
const buildFrom = (messages: readonly ChatMessage[], settings: Partial<AssemblySettings> = {}) =>
  build(anInput(aConversation(messages), settings));
const window = (contextLimit: number, reservedForReply = 20) => ({ budget: { contextLimit, reservedForReply } });

describe("buildPrompt", () => {
  it("runs the stages of the published order and reports each", async () => {
    expect(STAGES.map(({ name }) => name)).toEqual(STAGE_NAMES);
    const { stages } = await buildFrom([aMessage(1)]);
    expect(stages.map(({ name }) => name)).toEqual(STAGE_NAMES);
    expect(stages.every(({ ms }) => ms > 0)).toBe(true);
    expect(stages[0]).toMatchObject({ blocksIn: 0, blocksOut: 1, tokensIn: null, tokensOut: null });
    const last = stages.at(-1);
    expect(last).toMatchObject({ tokensIn: last?.tokensOut, blocksOut: 2 });
  });

  it("counts what is sent: the sum of the rows is the payload's own count", async () => {
    const tools = [{ name: "lookup", description: "Looks up.", parameters: { type: "object" } }];
    const { request, blocks, budget } = await buildFrom(
      [aMessage(1), calling(2, ["c"]), answering(3, "c"), aMessage(5)],
      { tools, parameters: { extra: { response_format: { type: "json_object" }, top_k: 40 } } },
    );
    const sum = blocks.filter(({ included }) => included).reduce((total, { tokens }) => total + (tokens ?? 0), 0);
    expect(budget.promptTokens).toBe(sum);
    expect(request && countRequest(createCounter(profileFor("gpt-4o")), request)).toBe(sum);
    expect(blocks.find(({ source }) => source === "overhead")?.tokens).toBe(budget.overheadTokens);
  });

  it("sends stored replies without their reasoning, and counts them so", async () => {
    const reasoning = `<think>${"SENTINEL-77 ".repeat(200)}</think>`;
    const branch = (lead: string) => [
      aMessage(1),
      aMessage(2, { content: `${lead}Take the lake road.` }),
      aMessage(3, { content: "<think>mine</think> Thanks" }),
    ];
    const plain = await buildFrom(branch(""), window(300));
    const stored = await buildFrom(branch(reasoning), window(300));
    expect(stored.request).toEqual(plain.request);
    expect(stored.budget).toEqual(plain.budget);
    expect(stored.assemblyHash).toBe(plain.assemblyHash);
    const row = stored.blocks.find(({ id }) => id === "msg:m2");
    expect(row).toMatchObject({ included: true, content: "Take the lake road.", tokens: plain.blocks[1]?.tokens });
    expect(JSON.stringify(stored)).not.toContain("SENTINEL-77");
    expect(JSON.stringify(stored.request)).toContain("<think>mine</think> Thanks");
  });

  it("keeps prompt and reply within the window", async () => {
    const messages = Array.from({ length: 60 }, (_, index) => aMessage(index + 1));
    const { request, budget } = await buildFrom([...messages, aMessage(61)], {
      ...window(300),
      parameters: { maxTokens: 290 },
    });
    expect(budget.promptTokens).toBeLessThanOrEqual(280);
    expect(request?.max_tokens).toBe(300 - (budget.promptTokens ?? 0));
  });
});

describe("buildPrompt, when something is wrong", () => {
  it("reports an itemised failure, and no request, when protected context does not fit", async () => {
    const long = "word ".repeat(200);
    const { request, error, blocks, assemblyHash, stages } = await buildFrom(
      [aMessage(1), aMessage(2), aMessage(3, { content: long })],
      window(120),
    );
    expect(request).toBeNull();
    expect(assemblyHash).toBeNull();
    expect(error).toMatchObject({
      code: "TOKEN_BUDGET_EXCEEDED",
      budgetTokens: 100,
      contextLimit: 120,
      reservedForReply: 20,
    });
    expect(error?.largest[0]).toMatchObject({ blockId: "msg:m3", source: "input" });
    expect(error?.protectedTokens).toBeGreaterThan(200);
    expect(blocks.filter(({ included }) => !included).map(({ id, reason }) => [id, reason])).toEqual([
      ["msg:m1", "shift_oldest"],
      ["msg:m2", "shift_oldest"],
    ]);
    expect(stages.at(-1)?.name).toBe("shift");
  });

  it("throws for settings it cannot work with", async () => {
    await expect(buildFrom([aMessage(1)], { contextStrategy: "shrink" })).rejects.toThrow(AssemblyInputError);
    const unknown = { model: "mystery", modelFacts: { contextLimit: null, maxOutputTokens: null } };
    await expect(buildFrom([aMessage(1)], unknown)).rejects.toMatchObject({ code: "MODEL_UNKNOWN" });
    await expect(buildFrom([aMessage(1)], window(0))).rejects.toMatchObject({ code: "VALIDATION_FAILED" });
  });

  it("throws the signal's reason once it is aborted", async () => {
    const controller = new AbortController();
    controller.abort(new Error("stopped"));
    await expect(buildPrompt(anInput(aConversation([aMessage(1)])), controller.signal)).rejects.toThrow("stopped");
  });
});

describe("buildPrompt, around its stages", () => {
  it("lets interceptors add to the prompt and counts what they added", async () => {
    const plain = anInput(aConversation([aMessage(1)]));
    const adds = {
      id: "p",
      priority: 0,
      intercept: (blocks: readonly unknown[]) => [...blocks, { role: "system", content: "Extra." }],
    };
    const report = await build({ ...plain, interceptors: [adds as never] });
    expect(chatReport(report).request?.messages.at(-1)).toEqual({ role: "system", content: "Extra." });
    expect(report.blocks.find(({ source }) => source === "plugin")).toMatchObject({
      reason: "plugin_added",
      included: true,
    });
    expect(report.diagnostics.map(({ code }) => code)).toEqual(["plugin_added"]);
  });

  it("gives a preview's draft the hash of the stored message that follows", async () => {
    const draft = await buildFrom([aMessage(1), aMessage(2), aMessage(3, { id: null })]);
    const stored = await buildFrom([aMessage(1, { id: "x1" }), aMessage(2), aMessage(3)]);
    expect(draft.assemblyHash).toMatch(/^[0-9a-f]{64}$/);
    expect(stored.assemblyHash).toBe(draft.assemblyHash);
    const other = await buildFrom([aMessage(1), aMessage(2), aMessage(3)], window(1_000));
    expect(other.assemblyHash).not.toBe(draft.assemblyHash);
    expect(other.prefixHash).toBe(draft.prefixHash);
  });

  it("lowers the budget by the excess when the payload costs more than its blocks did", async () => {
    const messages = Array.from({ length: 41 }, (_, index) => aMessage(index + 1));
    let assembly = startAssembly(anInput(aConversation(messages), window(300)));
    const verifyStage = STAGES.find(({ name }) => name === "verify");
    for (const stage of STAGES.slice(0, -1)) assembly = await runStage(stage, assembly, signal);
    const { counter } = assembly;
    const before = assembly.blocks.length;
    // From here on every message costs one token more than its block was counted with.
    const dearer = { ...counter, countMessage: (message: ChatRequestMessage) => counter.countMessage(message) + 1 };
    const verified = await runStage(verifyStage as never, { ...assembly, counter: dearer }, signal);
    expect(verified.error).toBeNull();
    expect(verified.promptTokens).toBeLessThanOrEqual(280);
    expect(verified.blocks.length).toBeLessThan(before);
    expect(verified.leftOut.at(-1)?.reason).toBe("final_shift");
    expect(verified.request?.messages).toHaveLength(verified.blocks.length);
  });

  it("says what it does not know while a summary is a placeholder: not exact, and no hash to promise", async () => {
    const messages = Array.from({ length: 41 }, (_, index) => aMessage(index + 1, { content: "word ".repeat(40) }));
    const input = anInput(aConversation(messages), { contextStrategy: "compress", ...window(2_000) });
    const preview = await build({ ...input, summariser: { id: "m", contextLimit: null, summarise: null } });
    expect([preview.exact, preview.assemblyHash, preview.summary?.calls]).toEqual([false, null, 0]);
    expect(preview.request).not.toBeNull();
    const summariser = { id: "m", contextLimit: null, summarise: () => Promise.resolve("They spoke.") };
    const sent = await build({ ...input, summariser });
    expect([sent.exact, sent.summary?.text]).toEqual([true, "They spoke."]);
    expect(sent.summary?.sourceHash).toBe(preview.summary?.sourceHash);
    expect(sent.assemblyHash).toMatch(/^[0-9a-f]{64}$/);
    const stored = { sourceHash: sent.summary?.sourceHash ?? "", text: "They spoke." };
    const again = await build({ ...input, summariser: { id: "m", contextLimit: null, summarise: null, stored } });
    expect([again.exact, again.assemblyHash]).toEqual([true, sent.assemblyHash]);
  });

  it("does the same twice for one assembly", async () => {
    let assembly = startAssembly(anInput(aConversation([aMessage(1), aMessage(2), aMessage(3)])));
    for (const stage of STAGES) assembly = await runStage(stage, assembly, signal);
    expect(runSerialize(runRecount(assembly)).request?.messages).toEqual(assembly.request?.messages);
  });
});
