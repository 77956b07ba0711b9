import { randomUUID } from "node:crypto";
import type { GenerationEvent, NewEvent } from "@shiftwork/contracts";
import { claimGeneration, findRunsOfWorker, newId, withTenant, type Claim } from "@shiftwork/db";
import { insertAnotherChat, insertTestGeneration, type TestChat } from "@shiftwork/db/testing";
import { FramesUnavailableError, openFrameWriter, type FrameWriter } from "@shiftwork/platform";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from "vitest";
import { createLiveEvents } from "../generation/live-events.ts";
import { openBench, type Bench } from "../testing/worker-under-test.ts";
import { takeOver } from "./take-over.ts";

const redisUrl = inject("redisUrl");

const delta = (text: string, index: number): NewEvent => ({ type: "message.delta", data: { delta: text, index } });
const prepared: NewEvent = {
  type: "context.prepared",
  data: {
    strategy: "truncate",
    tokenizer: { profile: "o200k_base", approximate: false },
    contextLimit: 8_192,
    reservedForReply: 1_024,
    promptTokens: 6,
    included: 1,
    excluded: 0,
    topExclusions: [],
  },
};
const streamed = (events: readonly GenerationEvent[]) =>
  events.map((event) => (event.type === "message.delta" ? event.data.delta : "")).join("");
const holes = (events: readonly GenerationEvent[]) => events.filter(({ seq }, at) => seq !== at + 1);

describe.skipIf(redisUrl === null)("a lost run with frames in Redis (needs one)", () => {
  let bench: Bench;

  beforeAll(async () => {
    bench = await openBench(inject("databaseUrl"), redisUrl, redisUrl);
    const nobody = { tenantId: newId(), generationId: newId(), fence: 0 };
    await vi.waitFor(() => bench.frames?.seal(nobody));
  });
  afterAll(() => bench.close());

  const read = (chat: TestChat, id: string) => bench.events.read(chat.tenantId, id, 0, 1_000);
  const costs = (chat: TestChat) =>
    withTenant(bench.api.db, chat.tenantId, (tx) =>
      tx
        .selectFrom("generation_attempts")
        .select(["outcome", "input_tokens", "output_tokens"])
        .where("tenant_id", "=", chat.tenantId)
        .execute(),
    );

  let chat: TestChat;
  let claim: Claim;
  let worker: string;

  /** Claimed by a worker that then streams `texts`, the first of them stored. */
  async function lose(frames: FrameWriter | null, texts: readonly string[], cancelled = false) {
    if (frames === null) throw new Error("no frames");
    chat = await bench.chatWith("http://127.0.0.1:1");
    worker = newId();
    const generationId = await insertTestGeneration(bench.api.db, chat);
    const job = { tenantId: chat.tenantId, generationId, epoch: 0 };
    const claimed = await withTenant(bench.worker.db, chat.tenantId, (tx) => claimGeneration(tx, job, worker));
    if (claimed === null) throw new Error("it could not be claimed");
    claim = claimed;
    const live = createLiveEvents(bench.worker.db, claim, frames);
    let text = "";
    for (const piece of texts) {
      await live.append([delta(piece, text.length)]);
      text += piece;
    }
    if (cancelled) await bench.cancel(chat, generationId);
    return live;
  }
  async function takeFromWorker(frames: FrameWriter | null): Promise<readonly GenerationEvent[]> {
    for (const run of await findRunsOfWorker(bench.worker.db, worker)) {
      await withTenant(bench.worker.db, run.tenantId, (tx) => takeOver(tx, run, frames));
    }
    return read(chat, claim.generationId);
  }

  it("that had streamed nothing goes on without a gap", async () => {
    await lose(bench.frames, []);
    const events = await takeFromWorker(bench.frames);
    expect(holes(events)).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: "generation.retrying", data: { resetOutput: false } });
  });

  it("that was lost before its first word was stored keeps it: readers may have had it from Redis", async () => {
    await lose(bench.frames, [], true);
    const { tenantId, generationId, fence, lastSeq } = claim;
    const first = { tenantId, generationId, fence, afterSeq: lastSeq, events: [delta("Half", 0)] };
    expect(await bench.frames?.append(first)).toBe(true);
    const events = await takeFromWorker(bench.frames);
    expect(holes(events)).toEqual([]);
    expect(streamed(events)).toBe("Half");
    expect(events.at(-1)?.type).toBe("generation.cancelled");
    expect(await bench.replies(chat)).toEqual([{ content: "Half", partial: true }]);
  });

  it("that had only had a request refused keeps what that was reported to cost", async () => {
    const live = await lose(bench.frames, []);
    await live.append([{ type: "usage.updated", data: { inputTokens: 7, outputTokens: 1 } }]);
    const { attempt } = claim;
    const refused = { attempt, errorCode: "PROVIDER_CONTEXT_LENGTH", nextAttemptAt: null, resetOutput: false } as const;
    const fittedAgain: NewEvent[] = [{ type: "generation.retrying", data: refused }, prepared];
    await live.append(fittedAgain, { also: async () => {}, touchesChat: true });
    const events = await takeFromWorker(bench.frames);
    expect(holes(events)).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: "generation.retrying", data: { resetOutput: false } });
    expect(await costs(chat)).toEqual([{ outcome: "lost", input_tokens: 7, output_tokens: 1 }]);
  });

  it("has its output thrown away, without a gap, and streams nothing more", async () => {
    const live = await lose(bench.frames, ["Half ", "a ", "word"]);
    const events = await takeFromWorker(bench.frames);
    expect(holes(events)).toEqual([]);
    expect(streamed(events)).toBe("Half a word");
    expect(events.at(-1)).toMatchObject({ type: "generation.retrying", data: { resetOutput: true } });
    expect(await live.append([delta(" late", 11)])).toBe(false);
    expect(await read(chat, claim.generationId)).toEqual(events);
  });

  it("that is taken over with its first word streamed goes on without a gap", async () => {
    await lose(bench.frames, ["Half "]);
    const events = await takeFromWorker(bench.frames);
    expect(holes(events)).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: "generation.retrying", data: { resetOutput: true } });
  });

  it("that was cancelled keeps the text readers have seen", async () => {
    await lose(bench.frames, ["Half ", "a ", "word"], true);
    expect((await takeFromWorker(bench.frames)).at(-1)?.type).toBe("generation.cancelled");
    expect(await bench.replies(chat)).toEqual([{ content: "Half a word", partial: true }]);
  });

  it("whose frames were lost keeps nothing rather than a part, and ends behind whatever readers have", async () => {
    await lose(bench.frames, ["Half ", "a "], true);
    await bench.events.forget(chat.tenantId, [claim.generationId]);
    const events = await takeFromWorker(bench.frames);
    expect(events.at(-1)?.type).toBe("generation.cancelled");
    expect(events.at(-1)?.seq).toBeGreaterThan(claim.lastSeq + 3);
    expect(await bench.replies(chat)).toEqual([]);
  });

  it("is taken over while Redis is away, too", async () => {
    await lose(bench.frames, ["Half ", "a ", "word"], true);
    const away = openFrameWriter({ url: "redis://127.0.0.1:1", name: "x", retentionMs: 1, onError: () => {} });
    onTestFinished(() => away.close());
    const events = await takeFromWorker(away);
    expect(events.at(-1)).toMatchObject({ type: "generation.cancelled" });
    expect(events.at(-1)?.seq).toBeGreaterThan(claim.lastSeq + 4);
  });

  it("a reply is whole whatever Redis takes, refuses, or takes without saying so", async () => {
    chat = await bench.chatWith("http://127.0.0.1:1");
    const outcome = fc.constantFrom("taken", "refused", "unanswered");
    const attempts = fc.array(outcome, { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(attempts, async (outcomes) => {
        const own = await insertAnotherChat(bench.api.db, chat);
        const generationId = await insertTestGeneration(bench.api.db, own);
        const job = { tenantId: own.tenantId, generationId, epoch: 0 };
        const claimed = await withTenant(bench.worker.db, own.tenantId, (tx) => claimGeneration(tx, job, randomUUID()));
        if (claimed === null || bench.frames === null) throw new Error("it could not be claimed");
        const real = bench.frames;
        let turn = 0;
        const flaky: Pick<FrameWriter, "append"> = {
          async append(batch) {
            const what = outcomes[turn % outcomes.length];
            turn += 1;
            if (what !== "refused") await real.append(batch);
            if (what !== "taken") throw new FramesUnavailableError(what ?? "");
            return true;
          },
        };
        const live = createLiveEvents(bench.worker.db, claimed, flaky);
        const words = outcomes.map((_, n) => `${n} `);
        let text = "";
        for (const word of words) {
          expect(await live.append([delta(word, text.length)])).toBe(true);
          text += word;
        }
        const events = await read(own, generationId);
        expect(holes(events)).toEqual([]);
        expect(streamed(events)).toBe(text);
        expect(events.at(-1)?.seq).toBe(live.lastSeq);
      }),
      { seed: 7, numRuns: 25 },
    );
  });
});
