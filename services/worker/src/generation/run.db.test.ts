import { inflateSync } from "node:zlib";
import { encodeId } from "@shiftwork/contracts";
import {
  deleteChat,
  endGeneration,
  findChatAudit,
  findChatLocked,
  findGeneration,
  NO_USAGE,
  requestCancel,
  withTenant,
} from "@shiftwork/db";
import { insertTestGeneration, insertTestMessage, type TestChat } from "@shiftwork/db/testing";
import { startFakeOpenAi, type FakeOpenAi } from "@shiftwork/providers/testing";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { openBench, type Bench } from "../testing/worker-under-test.ts";

let bench: Bench;
const fakes: FakeOpenAi[] = [];

beforeAll(async () => {
  bench = await openBench(inject("databaseUrl"), inject("redisUrl"));
  await bench.startWorker();
});

afterEach(async () => {
  await Promise.all(fakes.splice(0).map((fake) => fake.close()));
});

afterAll(() => bench.close());

async function fakeProvider(options: Parameters<typeof startFakeOpenAi>[0]): Promise<FakeOpenAi> {
  const fake = await startFakeOpenAi(options);
  fakes.push(fake);
  return fake;
}

const generation = (chat: TestChat, id: string) =>
  withTenant(bench.api.db, chat.tenantId, (tx) => findGeneration(tx, chat.tenantId, id));
const audits = (chat: TestChat) =>
  withTenant(bench.api.db, chat.tenantId, (tx) => findChatAudit(tx, chat.tenantId, chat.chatId));
const replies = (chat: TestChat) =>
  withTenant(bench.api.db, chat.tenantId, (tx) =>
    tx
      .selectFrom("messages")
      .selectAll()
      .where("tenant_id", "=", chat.tenantId)
      .where("role", "=", "assistant")
      .execute(),
  );
const cancel = (chat: TestChat, id: string) =>
  withTenant(bench.api.db, chat.tenantId, (tx) => requestCancel(tx, chat.tenantId, id, null));

const streamed = (events: Awaited<ReturnType<Bench["ended"]>>): string =>
  events.map((event) => (event.type === "message.delta" ? event.data.delta : "")).join("");

describe("a run", () => {
  it("streams the reply, stores what it streamed, and audits the very body it sent", async () => {
    const fake = await fakeProvider({ script: { kind: "words", words: ["The ", "lamp ", "is ", "lit."] } });
    const chat = await bench.chatWith(fake.baseUrl);
    const id = await insertTestGeneration(bench.api.db, chat);
    const events = await bench.ended(chat, id);
    expect(streamed(events)).toBe("The lamp is lit.");
    expect(events.map((event) => event.type)).toEqual(
      expect.arrayContaining(["generation.queued", "generation.started", "context.prepared", "message.delta"]),
    );
    expect(events.at(-1)).toMatchObject({ type: "generation.completed", data: { finishReason: "stop" } });
    expect(await replies(chat)).toMatchObject([{ content: "The lamp is lit.", active: true, partial: false }]);
    const { finished, prepared } = await audits(chat);
    expect(prepared).toBeNull();
    expect(finished).toMatchObject({ status: "completed", generationId: id });
    const document = JSON.parse(inflateSync(finished!.document).toString());
    expect(JSON.stringify(document.providerRequest)).toBe(fake.requests[0]?.rawBody);
  });

  it("stores calls and a finish reason that hold U+0000, in one attempt", async () => {
    const call = { index: 0, id: "c\0", function: { name: "f\0", arguments: "{\0}" } };
    const chunks = [
      { choices: [{ index: 0, delta: { tool_calls: [call] } }] },
      { choices: [{ index: 0, delta: {}, finish_reason: "tool\0calls" }] },
    ];
    const fake = await fakeProvider({ script: { kind: "chunks", chunks } });
    const chat = await bench.chatWith(fake.baseUrl);
    const id = await insertTestGeneration(bench.api.db, chat);
    expect((await bench.ended(chat, id)).at(-1)).toMatchObject({
      type: "generation.completed",
      data: { finishReason: "tool\uFFFDcalls" },
    });
    expect(await replies(chat)).toMatchObject([
      { tool_calls: [{ id: "c\uFFFD", name: "f\uFFFD", arguments: "{\uFFFD}" }] },
    ]);
    expect(fake.requests).toHaveLength(1);
  });

  it("cancelled mid-stream closes the provider's connection, keeps the partial text once, and ends the audit", async () => {
    const fake = await fakeProvider({ script: { kind: "words", words: ["One ", "two ", "three"], gated: true } });
    const chat = await bench.chatWith(fake.baseUrl);
    const id = await insertTestGeneration(bench.api.db, chat);
    const call = await fake.received(0);
    call.next();
    await bench.eventsUntil(chat, id, (event) => event.type === "message.delta");
    expect(await generation(chat, id)).toMatchObject({
      status: "running",
      firstTokenAt: expect.any(Date),
      context: { promptTokens: expect.any(Number) },
      stages: expect.arrayContaining([expect.objectContaining({ name: "verify" })]),
    });
    expect((await cancel(chat, id)).outcome).toBe("signalled");
    await call.clientClosed;
    const events = await bench.ended(chat, id);
    expect(events.at(-1)?.type).toBe("generation.cancelled");
    expect(await replies(chat)).toMatchObject([{ content: "One ", partial: true, failed: false, active: true }]);
    expect((await audits(chat)).finished).toMatchObject({ status: "cancelled", generationId: id });
  });

  it.each(["hang-before-headers", "hang-before-first-token"] as const)(
    "cancelled while the provider is at %s stores no message",
    async (kind) => {
      const fake = await fakeProvider({ script: { kind } });
      const chat = await bench.chatWith(fake.baseUrl);
      const id = await insertTestGeneration(bench.api.db, chat);
      const call = await fake.received(0);
      await cancel(chat, id);
      await call.clientClosed;
      expect((await bench.ended(chat, id)).at(-1)?.type).toBe("generation.cancelled");
      expect(await replies(chat)).toEqual([]);
    },
  );

  it("whose protected context cannot fit fails with an itemised audit and calls no provider", async () => {
    const fake = await fakeProvider({});
    const chat = await bench.chatWith(fake.baseUrl);
    await withTenant(bench.api.db, chat.tenantId, (tx) =>
      tx
        .updateTable("messages")
        .set({ content: "word ".repeat(9_000) })
        .where("tenant_id", "=", chat.tenantId)
        .execute(),
    );
    const id = await insertTestGeneration(bench.api.db, chat);
    await bench.ended(chat, id);
    expect(await generation(chat, id)).toMatchObject({ status: "failed", errorCode: "TOKEN_BUDGET_EXCEEDED" });
    const { finished } = await audits(chat);
    expect(finished).toMatchObject({ status: "failed", errorCode: "TOKEN_BUDGET_EXCEEDED" });
    const document = JSON.parse(inflateSync(finished!.document).toString());
    expect(document.blocks.find((block: { source: string }) => block.source === "input").tokens).toBeGreaterThan(9_000);
    expect(fake.requests).toEqual([]);
  });

  it("whose provider is down fails with a typed error that names no address", async () => {
    const fake = await startFakeOpenAi();
    await fake.close();
    const chat = await bench.chatWith(fake.baseUrl);
    const id = await insertTestGeneration(bench.api.db, chat);
    await bench.ended(chat, id);
    const row = await generation(chat, id);
    expect(row).toMatchObject({ status: "failed", errorCode: "PROVIDER_UNAVAILABLE" });
    expect(JSON.stringify(row?.error)).not.toContain(new URL(fake.baseUrl).port);
    expect(await replies(chat)).toEqual([]);
  });

  it("that breaks off keeps its text for the eye and does not send it in the next turn", async () => {
    const fake = await fakeProvider({
      script: [
        { kind: "cut", words: ["Half ", "a sen"] },
        { kind: "words", words: ["Whole."] },
      ],
    });
    const chat = await bench.chatWith(fake.baseUrl);
    const first = await insertTestGeneration(bench.api.db, chat);
    await bench.ended(chat, first);
    expect(await generation(chat, first)).toMatchObject({ errorCode: "PROVIDER_STREAM_INTERRUPTED" });
    expect(await replies(chat)).toMatchObject([{ content: "Half a sen", failed: true, active: false }]);
    const second = await insertTestGeneration(bench.api.db, chat);
    await bench.ended(chat, second);
    expect(fake.requests[1]?.rawBody).not.toContain("Half a sen");
  });

  it("past its deadline fails and closes the connection", async () => {
    const fake = await fakeProvider({ script: { kind: "hang-mid-stream", words: ["Wai"] } });
    const chat = await bench.chatWith(fake.baseUrl);
    const id = await insertTestGeneration(bench.api.db, chat, 700);
    const call = await fake.received(0);
    await call.clientClosed;
    await bench.ended(chat, id);
    expect(await generation(chat, id)).toMatchObject({ status: "failed", errorCode: "DEADLINE_EXCEEDED" });
    expect(await replies(chat)).toMatchObject([{ content: "Wai", failed: true }]);
  });

  it("whose row was ended by somebody else writes nothing any more", async () => {
    const fake = await fakeProvider({ script: { kind: "words", words: ["One ", "two"], gated: true } });
    const chat = await bench.chatWith(fake.baseUrl);
    const id = await insertTestGeneration(bench.api.db, chat);
    const call = await fake.received(0);
    const row = await withTenant(bench.worker.db, chat.tenantId, (tx) =>
      tx.selectFrom("generations").select("fence").where("id", "=", id).executeTakeFirstOrThrow(),
    );
    await withTenant(bench.worker.db, chat.tenantId, (tx) =>
      endGeneration(tx, {
        tenantId: chat.tenantId,
        generationId: id,
        chatId: chat.chatId,
        expected: { status: "running", fence: row.fence },
        status: "failed",
        error: null,
        finishReason: null,
        usage: NO_USAGE,
        text: "",
        toolCalls: [],
        firstTokenAt: null,
        context: null,
        stages: null,
        anchorMessageId: null,
        auditPatch: {},
      }),
    );
    await call.clientClosed;
    const before = await bench.events.read(chat.tenantId, id, 0, 100);
    expect(before.at(-1)?.type).toBe("generation.failed");
    expect(await replies(chat)).toEqual([]);
  });

  it("whose chat is deleted stops, and its log tells of an ordinary end", async () => {
    const fake = await fakeProvider({ script: { kind: "words", words: ["One ", "two ", "three"], gated: true } });
    const chat = await bench.chatWith(fake.baseUrl);
    const id = await insertTestGeneration(bench.api.db, chat);
    const call = await fake.received(0);
    call.next();
    await bench.eventsUntil(chat, id, (event) => event.type === "message.delta");
    await withTenant(bench.api.db, chat.tenantId, async (tx) => {
      await findChatLocked(tx, chat.tenantId, chat.chatId, null);
      call.next();
      await deleteChat(tx, chat.tenantId, { id: chat.chatId, publicId: encodeId("chat", chat.chatId) });
    });
    await call.clientClosed;
    const ofRun = () => bench.logged.filter((line) => line["generationId"] === encodeId("generation", id));
    await expect.poll(() => ofRun().map((line) => line["msg"])).toContain("generation done");
    expect(ofRun().filter(({ level }) => level !== "info")).toEqual([]);
    expect(ofRun().filter((line) => "err" in line)).toEqual([]);
  });

  it("whose reply holds a character PostgreSQL cannot store streams and stores the same replacement", async () => {
    const fake = await fakeProvider({ script: { kind: "words", words: ["Nul: ", "\u0000", "."] } });
    const chat = await bench.chatWith(fake.baseUrl);
    const id = await insertTestGeneration(bench.api.db, chat);
    expect(streamed(await bench.ended(chat, id))).toBe("Nul: \uFFFD.");
    expect(await replies(chat)).toMatchObject([{ content: "Nul: \uFFFD." }]);
  });

  it("whose events cannot be written stores nothing that no reader saw, and is given up", async () => {
    const fake = await fakeProvider({ script: { kind: "words", words: ["Unseen"] } });
    const chat = await bench.chatWith(fake.baseUrl);
    await bench.admin.client.begin(async (tx) => {
      await tx`set local role none`;
      await tx.unsafe(`
        create function refuse_delta() returns trigger language plpgsql as $$ begin raise 'the disk is full'; end $$;
        create trigger refuse_delta before insert on generation_events for each row
        when (new.type = 'message.delta' and new.tenant_id = '${chat.tenantId}') execute function refuse_delta();
      `);
    });
    const id = await insertTestGeneration(bench.api.db, chat);
    const events = await bench.ended(chat, id);
    expect(streamed(events)).toBe("");
    expect(await generation(chat, id)).toMatchObject({ status: "failed", errorCode: "WORKER_LOST" });
    expect(await replies(chat)).toEqual([]);
  });

  it("waits for the disk with what has to outlive a crash: what was asked for, what is sent, what came of it", async () => {
    const fake = await fakeProvider({ script: { kind: "words", words: ["First", "second"], gated: true } });
    const chat = await bench.chatWith(fake.baseUrl);
    // Asked at the commit. By its source: the tests' own server never waits for the disk.
    await bench.admin.client.begin(async (tx) => {
      await tx`set local role none`;
      await tx.unsafe(`
        create table commits (seq int, type text, source text);
        create function note_commit() returns trigger language plpgsql security definer as $$ begin
          insert into commits select new.seq, new.type, source from pg_settings where name = 'synchronous_commit';
          return null;
        end $$;
        create constraint trigger note_commit after insert on generation_events deferrable initially deferred
        for each row when (new.tenant_id = '${chat.tenantId}') execute function note_commit();
      `);
    });
    const id = await insertTestGeneration(bench.api.db, chat);
    const call = await fake.received(0);
    call.next();
    await bench.eventsUntil(chat, id, (event) => event.type === "message.delta");
    call.finish();
    await bench.ended(chat, id);
    const commits = await bench.admin.client.begin(async (tx) => {
      await tx`set local role none`;
      return tx<{ type: string; relaxed: boolean }[]>`
        select type, source = 'session' as relaxed from commits order by seq
      `;
    });
    expect(commits.map(({ type, relaxed }) => `${type} ${relaxed ? "at once" : "after the disk"}`)).toEqual([
      "generation.queued after the disk",
      "generation.started after the disk",
      "context.prepared after the disk",
      "message.delta at once",
      "message.delta at once",
      "usage.updated at once",
      "generation.completed after the disk",
    ]);
  });

  it("leaves in its audit what the provider reported, and nothing when it reported nothing", async () => {
    const usage = { prompt_tokens: 21, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 16 } };
    const fake = await fakeProvider({
      script: [
        { kind: "words", words: ["One"], usage },
        { kind: "words", words: ["Two"], usage: null },
      ],
    });
    const chat = await bench.chatWith(fake.baseUrl);
    await bench.ended(chat, await insertTestGeneration(bench.api.db, chat));
    const reported = { inputTokens: 21, outputTokens: 3, cacheReadTokens: 16 };
    expect((await audits(chat)).finished?.patch).toEqual({ usage: reported });
    await bench.ended(chat, await insertTestGeneration(bench.api.db, chat));
    expect((await audits(chat)).finished?.patch).toEqual({});
  });

  it("continues a chat: the reply of one turn is history in the next", async () => {
    const fake = await fakeProvider({ script: { kind: "words", words: ["The lamp is lit."] } });
    const chat = await bench.chatWith(fake.baseUrl);
    await bench.ended(chat, await insertTestGeneration(bench.api.db, chat));
    const next = { ...chat, inputMessageId: chat.chatId };
    await withTenant(bench.api.db, chat.tenantId, (tx) =>
      insertTestMessage(tx, chat, { id: next.inputMessageId, seq: 3, role: "user", content: "And the door?" }),
    );
    await bench.ended(chat, await insertTestGeneration(bench.api.db, next));
    const sent = fake.requests[1]?.body.messages.map((message) => message.content);
    expect(sent?.slice(-3)).toEqual(["Hello?", "The lamp is lit.", "And the door?"]);
  });
});
