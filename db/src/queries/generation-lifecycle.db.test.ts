import { problem, type Problem, type TerminalStatus } from "@shiftwork/contracts";
import { uuidv7 } from "uuidv7";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { openDatabase, type Database } from "../client.ts";
import {
  insertTestChat,
  insertAnotherChat,
  insertTestGeneration,
  openTestDatabase,
  type TestChat,
  type TestDatabase,
} from "../testing/index.ts";
import { withTenant, type Tx } from "../transaction.ts";
import { requestCancels } from "./cancel-many.ts";
import { requestCancel } from "./cancel.ts";
import { deleteChat } from "./chats.ts";
import { appendEventsFenced, deleteExpiredEvents, numberBeyond, readEvents } from "./generation-events.ts";
import { loadAssemblyInput } from "./generation-inputs.ts";
import { claimGeneration, endGeneration, NO_USAGE, recordFirstToken, type Claim } from "./generation-lifecycle.ts";
import { findGenerationSummary, keepGenerationSummary } from "./generation-summaries.ts";
import { findGeneration } from "./generations.ts";
import { findPastDeadline, findRunsOfDeadWorkers } from "./held-runs.ts";
import { findChatAudit, prepareAudit } from "./prompt-context-audits.ts";
import { requeueRun } from "./requeue-run.ts";
import { heartbeat } from "./workers.ts";

let test: TestDatabase;
let admin: Database;
let api: Database;
let worker: Database;
let chat: TestChat;
const workerId = uuidv7();

beforeAll(async () => {
  test = await openTestDatabase(inject("databaseUrl"));
  const open = (role: "shiftwork_admin" | "shiftwork_api" | "shiftwork_worker") =>
    openDatabase({ url: test.url, role, maxConnections: 10, applicationName: "test" });
  admin = open("shiftwork_admin");
  api = open("shiftwork_api");
  worker = open("shiftwork_worker");
});

afterAll(async () => {
  await Promise.all([admin.close(), api.close(), worker.close()]);
  await test.drop();
});

beforeEach(async () => {
  chat = await insertTestChat(admin.db, api.db);
});

const asWorker = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => withTenant(worker.db, chat.tenantId, work);

async function claimNew(): Promise<Claim> {
  const generationId = await insertTestGeneration(api.db, chat);
  const claim = await asWorker((tx) =>
    claimGeneration(tx, { tenantId: chat.tenantId, generationId, epoch: 0 }, workerId),
  );
  if (!claim) throw new Error("nothing was claimed");
  return claim;
}

function ending(claim: Claim, status: TerminalStatus, text: string) {
  return {
    tenantId: claim.tenantId,
    generationId: claim.generationId,
    chatId: claim.chatId,
    expected: { status: "running", fence: claim.fence },
    status,
    error: null,
    finishReason: "stop",
    usage: NO_USAGE,
    text,
    toolCalls: [],
    firstTokenAt: new Date(),
    context: null,
    stages: null,
    anchorMessageId: null,
    auditPatch: {},
  } as const;
}

const generation = (id: string) => asWorker((tx) => findGeneration(tx, chat.tenantId, id));
const replies = () =>
  asWorker((tx) =>
    tx
      .selectFrom("messages")
      .selectAll()
      .where("tenant_id", "=", chat.tenantId)
      .where("role", "=", "assistant")
      .orderBy("variant")
      .execute(),
  );
const eventsOf = ({ generationId }: Claim) => asWorker((tx) => readEvents(tx, chat.tenantId, generationId, 0, 100));
const eventTypes = async (id: string) =>
  (await asWorker((tx) => readEvents(tx, chat.tenantId, id, 0, 100))).map((event) => event.type);

describe("a claim", () => {
  it("is given once: the queue may deliver twice", async () => {
    const generationId = await insertTestGeneration(api.db, chat);
    const job = { tenantId: chat.tenantId, generationId, epoch: 0 };
    const claims = await Promise.all(
      Array.from({ length: 6 }, () => asWorker((tx) => claimGeneration(tx, job, uuidv7()))),
    );
    expect(claims.filter((claim) => claim !== null)).toHaveLength(1);
  });

  it("is refused for an older dispatch, a cancelled generation and one past its deadline", async () => {
    const late = await insertTestGeneration(api.db, chat, -1);
    expect(
      await asWorker((tx) => claimGeneration(tx, { tenantId: chat.tenantId, generationId: late, epoch: 0 }, workerId)),
    ).toBeNull();
    const queued = await insertTestGeneration(api.db, await insertAnotherChat(api.db, chat));
    expect(
      await asWorker((tx) =>
        claimGeneration(tx, { tenantId: chat.tenantId, generationId: queued, epoch: 7 }, workerId),
      ),
    ).toBeNull();
    await withTenant(api.db, chat.tenantId, (tx) => requestCancel(tx, chat.tenantId, queued, null));
    expect(
      await asWorker((tx) =>
        claimGeneration(tx, { tenantId: chat.tenantId, generationId: queued, epoch: 0 }, workerId),
      ),
    ).toBeNull();
  });
});

describe("a summary of a generation", () => {
  const summary = { sourceHash: "h", text: "The keeper waits." };
  const find = (id: string) => asWorker((tx) => findGenerationSummary(tx, chat.tenantId, id));

  it("is there for the next attempt, the newest only, and ends with the generation", async () => {
    const claim = await claimNew();
    await asWorker((tx) => keepGenerationSummary(tx, claim, { ...summary, text: "An older one." }));
    await asWorker((tx) => keepGenerationSummary(tx, claim, summary));
    await asWorker((tx) => requeueRun(tx, claim, { reason: "WORKER_LOST", streamed: false }));
    expect(await find(claim.generationId)).toEqual(summary);
    await withTenant(api.db, chat.tenantId, (tx) => requestCancel(tx, chat.tenantId, claim.generationId, null));
    expect(await find(claim.generationId)).toBeNull();
  });

  it("is not written by an attempt that is not the running one any more", async () => {
    const claim = await claimNew();
    await asWorker((tx) => endGeneration(tx, ending(claim, "completed", "Aye.")));
    await asWorker((tx) => keepGenerationSummary(tx, claim, summary));
    expect(await find(claim.generationId)).toBeNull();
  });

  it("goes with the chat", async () => {
    const claim = await claimNew();
    await asWorker((tx) => keepGenerationSummary(tx, claim, summary));
    await withTenant(api.db, chat.tenantId, (tx) => deleteChat(tx, chat.tenantId, { id: chat.chatId, publicId: "c" }));
    expect(await find(claim.generationId)).toBeNull();
  });
});

describe("where a turn cut its history", () => {
  it.each([
    ["completed", true],
    ["cancelled", false],
    ["failed", false],
  ] as const)("is kept for the next turn of one that %s: %s", async (status, kept) => {
    const claim = await claimNew();
    const anchorMessageId = chat.inputMessageId;
    await asWorker((tx) => endGeneration(tx, { ...ending(claim, status, "Aye."), anchorMessageId }));
    const query = { chatId: chat.chatId, inputMessageId: null, draft: null, personaId: null, lorebookIds: null };
    const stored = await asWorker((tx) => loadAssemblyInput(tx, chat.tenantId, { ...query, window: null }));
    expect(stored?.anchorId).toBe(kept ? anchorMessageId : null);
  });
});

describe("ending a generation", () => {
  it("stores reply, status and terminal event together", async () => {
    const claim = await claimNew();
    const ended = await asWorker((tx) => endGeneration(tx, ending(claim, "completed", "Hello there.")));
    expect(ended?.status).toBe("completed");
    expect(await generation(claim.generationId)).toMatchObject({
      status: "completed",
      outputMessageId: ended?.messageId,
    });
    expect(await replies()).toMatchObject([{ content: "Hello there.", seq: 2, active: true, partial: false }]);
    expect(await eventTypes(claim.generationId)).toEqual([
      "generation.queued",
      "generation.started",
      "generation.completed",
    ]);
  });

  it("is refused to an attempt that lost its fence, and writes nothing", async () => {
    const first = await claimNew();
    await asWorker((tx) => requeueRun(tx, first, { reason: "WORKER_LOST", streamed: false }));
    const job = { tenantId: chat.tenantId, generationId: first.generationId, epoch: 1 };
    const second = await asWorker((tx) => claimGeneration(tx, job, uuidv7()));
    expect(second?.fence).toBe(first.fence + 1);
    expect(await asWorker((tx) => endGeneration(tx, ending(first, "completed", "from the dead")))).toBeNull();
    expect(await replies()).toEqual([]);
    expect(await generation(first.generationId)).toMatchObject({ status: "running" });
  });

  it("in its worker's place keeps when the first token came", async () => {
    const claim = await claimNew();
    const firstTokenAt = new Date("2026-01-01T00:00:00.000Z");
    await asWorker((tx) => recordFirstToken(tx, claim, firstTokenAt));
    await asWorker((tx) => endGeneration(tx, { ...ending(claim, "failed", "Half"), firstTokenAt: null }));
    expect(await generation(claim.generationId)).toMatchObject({ status: "failed", firstTokenAt });
  });

  it("happens once, however many try", async () => {
    const claim = await claimNew();
    const tries = await Promise.all(
      Array.from({ length: 8 }, (_, n) => asWorker((tx) => endGeneration(tx, ending(claim, "completed", `try ${n}`)))),
    );
    expect(tries.filter((ended) => ended !== null)).toHaveLength(1);
    expect(await replies()).toHaveLength(1);
    expect((await eventTypes(claim.generationId)).filter((type) => type === "generation.completed")).toHaveLength(1);
  });

  it("keeps the text of a failed run for the eye only, and of a blank run nothing", async () => {
    const failed = await claimNew();
    await asWorker((tx) => endGeneration(tx, ending(failed, "failed", "half a sen")));
    expect(await replies()).toMatchObject([{ partial: true, failed: true, active: false }]);
    const blank = await claimNew();
    expect(await asWorker((tx) => endGeneration(tx, ending(blank, "cancelled", " \n")))).toMatchObject({
      messageId: null,
    });
    expect(await replies()).toHaveLength(1);
  });

  it("makes a retry's reply the active variant beside the failed one", async () => {
    const failed = await claimNew();
    await asWorker((tx) => endGeneration(tx, ending(failed, "failed", "half")));
    const retry = await claimNew();
    await asWorker((tx) => endGeneration(tx, ending(retry, "completed", "whole")));
    expect(await replies()).toMatchObject([
      { content: "half", seq: 2, variant: 0, active: false },
      { content: "whole", seq: 2, variant: 1, active: true },
    ]);
  });

  it("leaves the active reply where it is when a retry beside it is cancelled", async () => {
    const first = await claimNew();
    await asWorker((tx) => endGeneration(tx, ending(first, "cancelled", "One, two")));
    const retry = await claimNew();
    await asWorker((tx) => endGeneration(tx, ending(retry, "cancelled", "One")));
    expect(await replies()).toMatchObject([
      { content: "One, two", variant: 0, active: true, partial: true },
      { content: "One", variant: 1, active: false, partial: true },
    ]);
  });

  it("drops tool calls of a run that did not complete", async () => {
    const claim = await claimNew();
    const call = { id: "call_1", name: "look", arguments: '{"at":' };
    await asWorker((tx) => endGeneration(tx, { ...ending(claim, "cancelled", "Looking"), toolCalls: [call] }));
    expect(await replies()).toMatchObject([{ content: "Looking", tool_calls: [], partial: true }]);
  });
});

describe("a cancel", () => {
  it("ends a queued generation in the same statement", async () => {
    const id = await insertTestGeneration(api.db, chat);
    const cancel = () => withTenant(api.db, chat.tenantId, (tx) => requestCancel(tx, chat.tenantId, id, "enough"));
    expect(await cancel()).toMatchObject({ outcome: "cancelled" });
    expect(await cancel()).toMatchObject({ outcome: "already", status: "cancelled" });
    expect(await eventTypes(id)).toEqual(["generation.queued", "generation.cancelled"]);
  });

  it("of many of one line hands up who waits behind them, whatever the clocks that gave out the ids said", async () => {
    const head = await claimNew();
    const [earlierId, laterId] = [uuidv7(), uuidv7()];
    const wait = (id: string, blockedBy: string) =>
      insertTestGeneration(api.db, chat, 60_000, {
        id,
        blockedBy,
        inputMessageId: null,
        pendingMessage: { content: id, name: null },
      });
    await wait(laterId, head.generationId);
    await wait(earlierId, laterId);
    const last = await wait(uuidv7(), earlierId);
    await withTenant(api.db, chat.tenantId, (tx) => requestCancels(tx, chat.tenantId, [earlierId, laterId], null));
    expect(await generation(last)).toMatchObject({ status: "queued", blockedBy: head.generationId });
    await asWorker((tx) => endGeneration(tx, ending(head, "completed", "Done.")));
    expect(await generation(last)).toMatchObject({ blockedBy: null, inputMessageId: expect.any(String) });
  });

  it("accepted before the end wins over completion, and keeps what was streamed", async () => {
    const claim = await claimNew();
    const accepted = await withTenant(api.db, chat.tenantId, (tx) =>
      requestCancel(tx, chat.tenantId, claim.generationId, null),
    );
    expect(accepted.outcome).toBe("signalled");
    const ended = await asWorker((tx) => endGeneration(tx, ending(claim, "completed", "All of it.")));
    expect(ended?.status).toBe("cancelled");
    expect(await replies()).toMatchObject([{ content: "All of it.", partial: true, failed: false, active: true }]);
  });

  it("raced against completion never leaves an accepted cancel completed, nor a refused one cancelled", async () => {
    const races = await Promise.all(
      Array.from({ length: 60 }, async () => {
        const own = await insertTestChat(admin.db, api.db);
        const generationId = await insertTestGeneration(api.db, own);
        const job = { tenantId: own.tenantId, generationId, epoch: 0 };
        const claim = await withTenant(worker.db, own.tenantId, (tx) => claimGeneration(tx, job, workerId));
        if (!claim) throw new Error("nothing was claimed");
        const [cancel, ended] = await Promise.all([
          withTenant(api.db, own.tenantId, (tx) => requestCancel(tx, own.tenantId, generationId, null)),
          withTenant(worker.db, own.tenantId, (tx) => endGeneration(tx, ending(claim, "completed", "text"))),
        ]);
        return `${cancel.outcome} → ${ended?.status}`;
      }),
    );
    expect(races.filter((race) => race !== "signalled → cancelled" && race !== "finished → completed")).toEqual([]);
  });
});

describe("live events", () => {
  it("of an attempt that lost its fence are refused", async () => {
    const first = await claimNew();
    const events = [{ type: "message.delta", data: { delta: "Hel", index: 0 } }] as const;
    const append = (afterSeq: number) => asWorker((tx) => appendEventsFenced(tx, { ...first, afterSeq, events }));
    expect(await append(first.lastSeq)).toBe(true);
    await asWorker((tx) => requeueRun(tx, first, { reason: "WORKER_LOST", streamed: true }));
    expect(await append(first.lastSeq + 1)).toBe(false);
    expect(await eventTypes(first.generationId)).toEqual([
      "generation.queued",
      "generation.started",
      "message.delta",
      "generation.retrying",
    ]);
  });

  it("are numbered without holes over all attempts", async () => {
    const claim = await claimNew();
    const delta = (text: string, index: number) => ({ type: "message.delta", data: { delta: text, index } }) as const;
    const events = [delta("a", 0), delta("b", 1)];
    await asWorker((tx) => appendEventsFenced(tx, { ...claim, afterSeq: claim.lastSeq, events }));
    await asWorker((tx) => requeueRun(tx, claim, { reason: "WORKER_LOST", streamed: true }));
    const job = { tenantId: chat.tenantId, generationId: claim.generationId, epoch: 1 };
    const again = await asWorker((tx) => claimGeneration(tx, job, workerId));
    await asWorker((tx) => appendEventsFenced(tx, { ...again!, afterSeq: again!.lastSeq, events: [delta("c", 0)] }));
    const seqs = (await asWorker((tx) => readEvents(tx, chat.tenantId, claim.generationId, 0, 100))).map(
      (event) => event.seq,
    );
    expect(seqs).toEqual(seqs.map((_, n) => n + 1));
  });

  it("end behind the last number the run used, also where that event stands elsewhere, and a new attempt goes on", async () => {
    const claim = await claimNew();
    const [elsewhere, seqs] = [claim.lastSeq + 7, async () => (await eventsOf(claim)).map((event) => event.seq)];
    const told = { reason: "SHUTTING_DOWN", streamed: true, afterSeq: elsewhere } as const;
    await asWorker((tx) => requeueRun(tx, claim, told));
    expect(await seqs()).toEqual([1, 2, elsewhere + 1]);
    const job = { tenantId: chat.tenantId, generationId: claim.generationId, epoch: 1 };
    const again = await asWorker((tx) => claimGeneration(tx, job, workerId));
    expect(again?.lastSeq).toBe(elsewhere + 2);
    const end = { ...ending(again!, "completed", "text"), afterSeq: elsewhere + 9 };
    await asWorker((tx) => endGeneration(tx, end));
    expect(await seqs()).toEqual([1, 2, elsewhere + 1, elsewhere + 2, elsewhere + 10]);
  });

  it("written again because a commit was not answered stand once", async () => {
    const claim = await claimNew();
    const events = [{ type: "message.delta", data: { delta: "once", index: 0 } }] as const;
    const append = () => asWorker((tx) => appendEventsFenced(tx, { ...claim, afterSeq: claim.lastSeq, events }));
    expect([await append(), await append()]).toEqual([true, true]);
    const deltas = (await eventsOf(claim)).filter(({ type }) => type === "message.delta");
    expect(deltas.map(({ data }) => data)).toEqual([{ delta: "once", index: 0 }]);
  });

  it("never fall back behind what readers have when a crash emptied the log", async () => {
    const claim = await claimNew();
    const seen = claim.lastSeq;
    await asWorker((tx) => deleteExpiredEvents(tx, chat.tenantId, 0));
    const events = [{ type: "message.delta", data: { delta: "on", index: 0 } }] as const;
    await asWorker((tx) => appendEventsFenced(tx, { ...claim, afterSeq: seen, events }));
    const read = () => asWorker((tx) => readEvents(tx, chat.tenantId, claim.generationId, 0, 100));
    expect((await read()).map((event) => event.seq)).toEqual([seen + 1]);
    await asWorker((tx) => deleteExpiredEvents(tx, chat.tenantId, 0));
    await asWorker((tx) => endGeneration(tx, ending(claim, "completed", "on and on")));
    const [terminal] = await read();
    expect(terminal?.type).toBe("generation.completed");
    expect(terminal?.seq).toBeGreaterThan(seen + 1);
  });

  it("that nobody knows the last of stand between the start of the attempt and the next one, crash or not", async () => {
    const [manyEvents, generationId] = [400_000, await insertTestGeneration(api.db, chat)];
    const forget = () => asWorker((tx) => deleteExpiredEvents(tx, chat.tenantId, 0));
    const claimAgain = async (epoch: number) => {
      const job = { tenantId: chat.tenantId, generationId, epoch };
      const claim = await asWorker((tx) => claimGeneration(tx, job, workerId));
      if (claim === null) throw new Error("it could not be claimed");
      return claim;
    };
    let last = 0;
    for (const [epoch, crashes] of [true, false, true, true].entries()) {
      if (crashes) await forget();
      const claim = await claimAgain(epoch);
      expect(claim.lastSeq).toBeGreaterThan(crashes ? last + manyEvents : last);
      const afterSeq = numberBeyond(claim.fence);
      expect(afterSeq).toBeGreaterThan(claim.lastSeq + manyEvents);
      const requeue = { reason: "SHUTTING_DOWN", streamed: false, afterSeq } as const;
      expect(await asWorker((tx) => requeueRun(tx, claim, requeue))).toBe(true);
      last = afterSeq + 1;
    }
  });
});

describe("audits", () => {
  const audit = (claim: Claim) => ({
    tenantId: claim.tenantId,
    chatId: claim.chatId,
    generationId: claim.generationId,
    attempt: claim.attempt,
    providerId: claim.providerId,
    providerKind: "echo",
    model: claim.model,
    strategy: "truncate",
    tokenizerProfile: "openai:o200k_base",
    approximate: false,
    contextLimit: 8192,
    reservedForReply: 1024,
    promptTokens: 12,
    included: 2,
    excluded: 0,
    summarised: 0,
    truncated: 0,
    assemblyHash: "a",
    prefixHash: "b",
    document: Buffer.from("document"),
    reasons: [{ source: "input", reason: "current_input", included: true, count: 1 }],
  });
  const both = () => asWorker((tx) => findChatAudit(tx, chat.tenantId, chat.chatId));

  it("stand at most once prepared and once finished per chat; finishing replaces", async () => {
    const first = await claimNew();
    await asWorker((tx) => prepareAudit(tx, audit(first)));
    expect(await both()).toMatchObject({ finished: null, prepared: { generationId: first.generationId } });
    await asWorker((tx) => endGeneration(tx, ending(first, "completed", "one")));
    const second = await claimNew();
    await asWorker((tx) => prepareAudit(tx, audit(second)));
    expect(await both()).toMatchObject({
      finished: { generationId: first.generationId, status: "completed" },
      prepared: { generationId: second.generationId },
    });
    await asWorker((tx) => endGeneration(tx, ending(second, "cancelled", "two")));
    expect(await both()).toMatchObject({
      finished: { generationId: second.generationId, status: "cancelled" },
      prepared: null,
    });
  });

  it("end with a generation that is cancelled while it waits to run again", async () => {
    const claim = await claimNew();
    await asWorker((tx) => prepareAudit(tx, audit(claim)));
    await asWorker((tx) => requeueRun(tx, claim, { reason: "WORKER_LOST", streamed: false }));
    await withTenant(api.db, chat.tenantId, (tx) => requestCancel(tx, chat.tenantId, claim.generationId, null));
    expect(await both()).toMatchObject({
      finished: { generationId: claim.generationId, status: "cancelled" },
      prepared: null,
    });
  });

  it("of the last run stay when a run ends before it prepared one", async () => {
    const first = await claimNew();
    await asWorker((tx) => prepareAudit(tx, audit(first)));
    await asWorker((tx) => endGeneration(tx, ending(first, "completed", "one")));
    const second = await claimNew();
    await asWorker((tx) => endGeneration(tx, ending(second, "cancelled", "")));
    expect(await both()).toMatchObject({ finished: { generationId: first.generationId } });
  });
});

describe("runs of silent workers, and handed back", () => {
  it("finds the runs of silent workers and generations past their deadline", async () => {
    const claim = await claimNew();
    const silent = await findRunsOfDeadWorkers(worker.db, 5_000, 100);
    expect(silent.map((run) => run.generationId)).toContain(claim.generationId);
    await heartbeat(worker.db, { id: workerId, host: "h", pid: 1, slots: 1 });
    const alive = await findRunsOfDeadWorkers(worker.db, 5_000, 100);
    expect(alive.map((run) => run.generationId)).not.toContain(claim.generationId);
    const late = await insertTestGeneration(api.db, await insertAnotherChat(api.db, chat), -10_000);
    expect((await findPastDeadline(worker.db, 1_000, 100)).map((run) => run.generationId)).toContain(late);
  });

  it("a run handed back during a drain does not count its attempt", async () => {
    const claim = await claimNew();
    expect(await asWorker((tx) => requeueRun(tx, claim, { reason: "SHUTTING_DOWN", streamed: false }))).toBe(true);
    expect(await generation(claim.generationId)).toMatchObject({ status: "queued", attempts: 0, epoch: 1 });
  });

  const attempts = (id: string) =>
    asWorker((tx) => tx.selectFrom("generation_attempts").select("fence").where("generation_id", "=", id).execute());

  it("a run whose provider said when to come back waits until then, without the attempt and without a row of it", async () => {
    const claim = await claimNew();
    const before = Date.now();
    const told = { reason: "PROVIDER_RATE_LIMITED", streamed: false, waitMs: 60_000 } as const;
    expect(await asWorker((tx) => requeueRun(tx, claim, told))).toBe(true);
    const row = await generation(claim.generationId);
    expect(row).toMatchObject({ status: "queued", attempts: 0, epoch: 1 });
    expect(row!.notBefore!.getTime() - before).toBeGreaterThan(55_000);
    const [retrying] = (await asWorker((tx) => readEvents(tx, chat.tenantId, claim.generationId, 0, 100))).slice(-1);
    expect(retrying).toMatchObject({
      type: "generation.retrying",
      data: {
        attempt: 1,
        errorCode: "PROVIDER_RATE_LIMITED",
        nextAttemptAt: row!.notBefore!.toISOString(),
        resetOutput: false,
      },
    });
    expect(await attempts(row!.id)).toEqual([]);
    const again = await asWorker((tx) =>
      claimGeneration(tx, { tenantId: chat.tenantId, generationId: row!.id, epoch: 1 }, workerId),
    );
    expect(again).toMatchObject({ attempt: 1, fence: 2, toldWaits: 1 });
  });

  it("a run that is given back keeps the row of an attempt that has cost something", async () => {
    const claim = await claimNew();
    const spent = { inputTokens: 7, outputTokens: null, cacheReadTokens: 3 };
    await asWorker((tx) => requeueRun(tx, claim, { reason: "SHUTTING_DOWN", streamed: false, spent }));
    const rows = await asWorker((tx) =>
      tx.selectFrom("generation_attempts").selectAll().where("generation_id", "=", claim.generationId).execute(),
    );
    expect(rows).toMatchObject([
      {
        outcome: "handed_back",
        input_tokens: 7,
        output_tokens: null,
        cache_read_tokens: 3,
        ended_at: expect.any(Date),
      },
    ]);
    const job = { tenantId: chat.tenantId, generationId: claim.generationId, epoch: 1 };
    expect(await asWorker((tx) => claimGeneration(tx, job, workerId))).toMatchObject({ attempt: 1, fence: 2 });
  });

  it("a told wait is over once the run is taken from its next worker", async () => {
    const claim = await claimNew();
    await asWorker((tx) => requeueRun(tx, claim, { reason: "PROVIDER_UNAVAILABLE", streamed: false, waitMs: 60_000 }));
    const job = { tenantId: chat.tenantId, generationId: claim.generationId, epoch: 1 };
    const again = await asWorker((tx) => claimGeneration(tx, job, workerId));
    await asWorker((tx) => requeueRun(tx, again!, { reason: "WORKER_LOST", streamed: false }));
    expect(await generation(claim.generationId)).toMatchObject({ notBefore: null, attempts: 1 });
  });
});

describe("a generation that failed", () => {
  const marks = (id: string) =>
    asWorker((tx) =>
      tx
        .selectFrom("generations")
        .select(["error_fingerprint", "dead_letter"])
        .where("tenant_id", "=", chat.tenantId)
        .where("id", "=", id)
        .executeTakeFirstOrThrow(),
    );
  async function failWith(error: Problem | null): Promise<string> {
    const claim = await claimNew();
    await asWorker((tx) => endGeneration(tx, { ...ending(claim, "failed", ""), error }));
    return claim.generationId;
  }

  it("of its provider or the platform is grouped with its like and waits for an operator", async () => {
    const first = await marks(await failWith(problem("PROVIDER_UNAVAILABLE", "One.", { upstreamStatus: 503 })));
    const second = await marks(await failWith(problem("PROVIDER_UNAVAILABLE", "Two.", { upstreamStatus: 503 })));
    const lost = await marks(await failWith(problem("WORKER_LOST", "Three.")));
    expect(first).toEqual({ error_fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/), dead_letter: "open" });
    expect(second).toEqual(first);
    expect(lost.dead_letter).toBe("open");
    expect(lost.error_fingerprint).not.toBe(first.error_fingerprint);
  });

  it("of the client's own mistake is grouped, and no dead letter", async () => {
    const marked = await marks(await failWith(problem("TOKEN_BUDGET_EXCEEDED", "Too much.")));
    expect(marked).toEqual({ error_fingerprint: expect.any(String), dead_letter: null });
  });

  it("after a cancel was accepted is cancelled, and neither grouped nor a dead letter", async () => {
    const claim = await claimNew();
    await withTenant(api.db, chat.tenantId, (tx) => requestCancel(tx, chat.tenantId, claim.generationId, null));
    const error = problem("PROVIDER_UNAVAILABLE", "Too late.");
    await asWorker((tx) => endGeneration(tx, { ...ending(claim, "failed", ""), error }));
    expect(await marks(claim.generationId)).toEqual({ error_fingerprint: null, dead_letter: null });
  });
});
