import { inflateSync } from "node:zlib";
import { findChatAudit, withTenant } from "@shiftwork/db";
import { insertTestGeneration, type TestChat } from "@shiftwork/db/testing";
import { messagesOfBlocks, readAuditDocument, type AuditDocument } from "@shiftwork/pipeline";
import { startFakeOpenAi, type FakeOpenAi } from "@shiftwork/providers/testing";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { openBench, type Bench } from "../testing/worker-under-test.ts";

let bench: Bench;
let fake: FakeOpenAi;

beforeAll(async () => {
  bench = await openBench(inject("databaseUrl"), inject("redisUrl"));
  await bench.startWorker();
  fake = await startFakeOpenAi({ script: { kind: "words", words: ["The ", "lamp ", "is ", "lit."] } });
});

afterAll(async () => {
  await bench.close();
  await fake.close();
});

/** A chat whose provider takes rendered prompts. */
async function textChat(): Promise<TestChat> {
  const chat = await bench.chatWith(fake.baseUrl);
  await withTenant(bench.admin.db, chat.tenantId, (tx) =>
    tx
      .updateTable("providers")
      .set({ kind: "openai-compatible-text" })
      .where("tenant_id", "=", chat.tenantId)
      .where("id", "=", chat.providerId)
      .execute(),
  );
  return chat;
}

describe("a run with a provider of text completions", () => {
  it("sends the rendered prompt that its audit holds, with stop strings, and streams the reply", async () => {
    const chat = await textChat();
    const id = await insertTestGeneration(bench.api.db, chat);
    const events = await bench.ended(chat, id);
    expect(events.at(-1)?.type).toBe("generation.completed");
    expect(events.map((event) => (event.type === "message.delta" ? event.data.delta : "")).join("")).toBe(
      "The lamp is lit.",
    );

    const { finished } = await withTenant(bench.api.db, chat.tenantId, (tx) =>
      findChatAudit(tx, chat.tenantId, chat.chatId),
    );
    const document = JSON.parse(inflateSync(finished!.document).toString()) as AuditDocument;
    const sent = fake.requests.at(-1);
    expect(sent?.path).toBe("/v1/completions");
    expect(JSON.stringify(document.providerRequest)).toBe(sent?.rawBody);
    const { blocks, wire, budget } = readAuditDocument(document);
    expect(wire).toEqual({ shape: "text", format: "chatml", postProcessing: "none" });
    expect(messagesOfBlocks(blocks)).toEqual([{ prompt: sent?.prompt }]);
    expect(sent?.prompt).toMatch(/^<\|im_start\|>system\n[^]*<\|im_start\|>user\n[^]*<\|im_start\|>assistant\n$/);
    expect(document.providerRequest?.["stop"]).toEqual(
      expect.arrayContaining(["<|im_end|>", "\n<|im_start|>user", "\nUser:"]),
    );
    expect(finished?.promptTokens).toBe(budget.promptTokens);
  });
});
