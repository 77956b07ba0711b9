import {
  claimGeneration,
  endGeneration,
  findRunsOfWorker,
  keepGenerationSummary,
  newId,
  NO_USAGE,
  recordContext,
  recordFirstToken,
  requeueRun,
  withTenant,
  type Claim,
  type Tx,
} from "@shiftwork/db";
import { insertAnotherChat, insertTestGeneration, type TestChat } from "@shiftwork/db/testing";
import { createLogger, createTokenizers, loadPlugins } from "@shiftwork/platform";
import { createUseLite, createVectorCache } from "@shiftwork/providers";
import { startFakeOpenAi } from "@shiftwork/providers/testing";
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from "vitest";
import { sweepRuns } from "../maintenance/sweep-runs.ts";
import { takeOver } from "../maintenance/take-over.ts";
import { openBench, type Bench } from "../testing/worker-under-test.ts";
import { createActiveRuns, type ActiveRuns } from "./active-runs.ts";
import { createLiveEvents } from "./live-events.ts";
import { runGeneration } from "./run.ts";
import type { RunDependencies } from "./run-state.ts";

let bench: Bench;
let chat: TestChat;

beforeAll(async () => {
  bench = await openBench(inject("databaseUrl"), inject("redisUrl"));
  chat = await bench.chatWith("http://127.0.0.1:1");
});

afterAll(() => bench.close());

const asWorker = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => withTenant(bench.worker.db, chat.tenantId, work);

async function claimAs(workerId: string, generationId: string, epoch: number): Promise<Claim> {
  const claim = await asWorker((tx) => claimGeneration(tx, { tenantId: chat.tenantId, generationId, epoch }, workerId));
  if (claim === null) throw new Error("it could not be claimed");
  return claim;
}

/** Every row a run writes to. */
const TABLES = [
  "generations",
  "generation_attempts",
  "generation_events",
  "generation_summaries",
  "prompt_context_audits",
  "messages",
  "chats",
] as const;
const everything = () =>
  asWorker((tx) =>
    Promise.all(
      TABLES.map((table) => tx.selectFrom(table).selectAll().where("tenant_id", "=", chat.tenantId).execute()),
    ),
  );

const word = { type: "message.delta", data: { delta: "late", index: 0 } } as const;
const context = {
  contextLimit: 1,
  reservedForReply: 1,
  promptTokens: 1,
  tokenizer: { profile: "late", approximate: true },
  counts: { included: 1, excluded: 0, summarised: 0, truncated: 0 },
  assemblyHash: "late",
};

/** All a run ever writes, each as the first thing its worker does when it wakes. */
const WRITES = {
  "a frame": (lost: Claim) => createLiveEvents(bench.worker.db, lost, null).append([word]),
  "an audit, with its events": (lost: Claim) =>
    createLiveEvents(bench.worker.db, lost, null).append([word], {
      touchesChat: true,
      also: () => Promise.reject(new Error("the audit would be written")),
    }),
  "what is known of its context": (lost: Claim) => asWorker((tx) => recordContext(tx, lost, { context, stages: [] })),
  "its first token": (lost: Claim) => asWorker((tx) => recordFirstToken(tx, lost, new Date(0))),
  "its summary": (lost: Claim) => asWorker((tx) => keepGenerationSummary(tx, lost, { sourceHash: "00", text: "late" })),
  "that it goes back into the line": (lost: Claim) =>
    asWorker((tx) => requeueRun(tx, lost, { reason: "SHUTTING_DOWN", streamed: true })),
  "its end": (lost: Claim) =>
    asWorker((tx) =>
      endGeneration(tx, {
        ...lost,
        expected: { status: "running", fence: lost.fence },
        status: "completed",
        error: null,
        finishReason: "stop",
        usage: NO_USAGE,
        text: "late",
        toolCalls: [],
        firstTokenAt: null,
        context,
        stages: [],
        anchorMessageId: null,
        auditPatch: {},
      }),
    ),
} as const;

it("a run that was taken away while its worker slept, and runs elsewhere, writes nothing before the sweep finds it", async () => {
  const [sleeper, successor] = [newId(), newId()];
  const lost = await claimAs(sleeper, await insertTestGeneration(bench.api.db, chat), 0);
  for (const run of await findRunsOfWorker(bench.worker.db, sleeper)) await asWorker((tx) => takeOver(tx, run, null));
  await claimAs(successor, lost.generationId, 1);
  const before = await everything();
  for (const [what, write] of Object.entries(WRITES)) {
    await write(lost);
    expect(await everything(), what).toEqual(before);
  }
});

it("a worker that wakes up asks after its run before it pays for a request, and sends none for one that was taken away", async () => {
  const fake = await startFakeOpenAi();
  onTestFinished(() => fake.close());
  const own = await bench.chatWith(fake.baseUrl);
  const workerId = newId();
  const activeRuns = createActiveRuns();
  const takeAwayAndSweep = async (): Promise<void> => {
    for (const run of await findRunsOfWorker(bench.worker.db, workerId))
      await withTenant(bench.worker.db, own.tenantId, (tx) => takeOver(tx, run, null));
    await sweepRuns(bench.worker.db, { id: workerId, host: "h", pid: 1, slots: 1 }, activeRuns);
  };
  const lease = { isOver: () => true, renew: takeAwayAndSweep };
  const generationId = await insertTestGeneration(bench.api.db, own);
  const job = { tenantId: own.tenantId, generationId, epoch: 0 };
  const outcome = await runGeneration(job, { ...(await runDependencies(workerId, activeRuns)), lease });
  expect(outcome.kind).toBe("fenced");
  expect(fake.requests).toEqual([]);
});

async function runDependencies(workerId: string, activeRuns: ActiveRuns): Promise<Omit<RunDependencies, "lease">> {
  return {
    db: bench.worker.db,
    workerId,
    activeRuns,
    masterKey: Buffer.alloc(32, 7),
    timeouts: { connectTimeoutMs: 10_000, idleTimeoutMs: 10_000 },
    retry: { baseMs: 1, capMs: 1, longestInPlaceMs: 1, mostToldWaits: 1, random: () => 0 },
    summaryTimeoutMs: 1_000,
    frame: { frameMs: 5, frameBytes: 256 },
    frames: null,
    plugins: await loadPlugins([]),
    useLite: createUseLite(),
    vectorCache: createVectorCache(),
    tokenizers: createTokenizers(),
    logger: createLogger({ level: "silent", name: "test" }),
  };
}

it("a lost run keeps what its last attempt reported of its cost, request by request", async () => {
  const used = (inputTokens: number, outputTokens: number) =>
    ({ type: "usage.updated", data: { inputTokens, outputTokens } }) as const;
  const data = { attempt: 1, errorCode: "PROVIDER_UNAVAILABLE", nextAttemptAt: null, resetOutput: false } as const;
  const again = { type: "generation.retrying", data } as const;
  const [first, second] = [newId(), newId()];
  const another = await insertAnotherChat(bench.api.db, chat);
  const lost = await claimAs(first, await insertTestGeneration(bench.api.db, another), 0);
  await createLiveEvents(bench.worker.db, lost, null).append([used(7, 1), used(7, 2), again, used(9, 3)]);
  for (const run of await findRunsOfWorker(bench.worker.db, first)) await asWorker((tx) => takeOver(tx, run, null));
  const next = await claimAs(second, lost.generationId, 1);
  await createLiveEvents(bench.worker.db, next, null).append([used(9, 4)]);
  for (const run of await findRunsOfWorker(bench.worker.db, second)) await asWorker((tx) => takeOver(tx, run, null));
  const third = newId();
  await claimAs(third, lost.generationId, 2);
  for (const run of await findRunsOfWorker(bench.worker.db, third)) await asWorker((tx) => takeOver(tx, run, null));
  const rows = await asWorker((tx) =>
    tx
      .selectFrom("generation_attempts")
      .select(["outcome", "input_tokens as input", "output_tokens as output"])
      .where("generation_id", "=", lost.generationId)
      .orderBy("fence")
      .execute(),
  );
  expect(rows).toEqual([
    { outcome: "lost", input: 16, output: 5 },
    { outcome: "lost", input: 9, output: 4 },
    { outcome: "failed", input: null, output: null },
  ]);
});
