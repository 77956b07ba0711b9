import type { GenerationEvent } from "@shiftwork/contracts";
import { findGeneration, newId, readEvents, withTenant } from "@shiftwork/db";
import { insertTestGeneration, type TestChat } from "@shiftwork/db/testing";
import { startFakeOpenAi, type FakeOpenAi } from "@shiftwork/providers/testing";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from "vitest";
import { openBench, type Bench } from "../testing/worker-under-test.ts";

const redisUrl = inject("redisUrl");

const streamed = (events: readonly GenerationEvent[]) =>
  events.map((event) => (event.type === "message.delta" ? event.data.delta : "")).join("");
const holes = (events: readonly GenerationEvent[]) => events.filter(({ seq }, at) => seq !== at + 1);

describe.skipIf(redisUrl === null)("a run with frames in Redis (needs one)", () => {
  let bench: Bench;
  const fakes: FakeOpenAi[] = [];

  beforeAll(async () => {
    bench = await openBench(inject("databaseUrl"), redisUrl, redisUrl);
    const nobody = { tenantId: newId(), generationId: newId(), fence: 0 };
    await vi.waitFor(() => bench.frames?.seal(nobody));
    await bench.startWorker();
  });
  afterEach(async () => {
    await Promise.all(fakes.splice(0).map((fake) => fake.close()));
  });
  afterAll(() => bench.close());

  async function chatOf(words: readonly string[]): Promise<{ chat: TestChat; fake: FakeOpenAi }> {
    const fake = await startFakeOpenAi({ script: { kind: "words", words, gated: true } });
    fakes.push(fake);
    return { chat: await bench.chatWith(fake.baseUrl), fake };
  }
  const stored = (chat: TestChat, id: string) =>
    withTenant(bench.worker.db, chat.tenantId, (tx) => readEvents(tx, chat.tenantId, id, 0, 1_000));
  const row = (chat: TestChat, id: string) =>
    withTenant(bench.api.db, chat.tenantId, (tx) => findGeneration(tx, chat.tenantId, id));
  it("streams without holes, ends with one terminal event that is its row, and stores what it streamed", async () => {
    const { chat, fake } = await chatOf(["The ", "lamp ", "is ", "lit."]);
    const id = await insertTestGeneration(bench.api.db, chat);
    const call = await fake.received(0);
    for (const word of ["The ", "lamp "]) {
      call.next();
      await bench.eventsUntil(chat, id, (event) => event.type === "message.delta" && event.data.delta === word);
    }
    call.finish();
    const events = await bench.ended(chat, id);
    expect(holes(events)).toEqual([]);
    expect(streamed(events)).toBe("The lamp is lit.");
    expect(await bench.replies(chat)).toEqual([{ content: "The lamp is lit.", partial: false }]);
    const { status, outputMessageId } = (await row(chat, id)) ?? {};
    expect(events.filter(({ type }) => type.startsWith("generation.c"))).toEqual([events.at(-1)]);
    expect(events.at(-1)?.data).toMatchObject({ status, messageId: outputMessageId });
    expect(streamed(await stored(chat, id))).toBe("The ");
  });

  it("cancelled in the middle keeps exactly what was streamed", async () => {
    const { chat, fake } = await chatOf(["One ", "two ", "three"]);
    const id = await insertTestGeneration(bench.api.db, chat);
    const call = await fake.received(0);
    for (const word of ["One ", "two "]) {
      call.next();
      await bench.eventsUntil(chat, id, (event) => event.type === "message.delta" && event.data.delta === word);
    }
    await bench.cancel(chat, id);
    const events = await bench.ended(chat, id);
    expect(holes(events)).toEqual([]);
    expect(await bench.replies(chat)).toEqual([{ content: "One two ", partial: true }]);
  });
});
