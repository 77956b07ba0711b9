import type { HealthObject } from "@shiftwork/contracts";
import { DISPATCHED_QUEUE, listWorkers, readQueuePause, type Db, type ListedWorker } from "@shiftwork/db";
import type { Queue } from "@shiftwork/platform";

export interface HealthCheckOptions {
  readonly adminDb: Db;
  readonly queue: Pick<Queue, "state">;
  /** A worker silent for this long is dead, in milliseconds. */
  readonly deadAfterMs: number;
}

/** How long an answer holds: the route is open to anybody, and looking costs two round trips. */
const ANSWER_HOLDS_MS = 1_000;
/** A job no queue has: asking for it shows whether the queue answers. */
const NO_JOB = { generationId: "00000000-0000-0000-0000-000000000000", epoch: 0 };

/** Looks at everything a turn needs to get its reply, models apart; at most once per second, whoever asks. */
export function createHealthCheck(options: HealthCheckOptions): () => Promise<HealthObject> {
  let lookedAtMs = -Infinity;
  let answer: Promise<HealthObject> | null = null;
  return () => {
    const nowMs = performance.now();
    if (answer === null || nowMs - lookedAtMs >= ANSWER_HOLDS_MS) {
      lookedAtMs = nowMs;
      answer = checkHealth(options);
    }
    return answer;
  };
}

async function checkHealth({ adminDb, queue, deadAfterMs }: HealthCheckOptions): Promise<HealthObject> {
  const [workers, pausedAt, answers] = await Promise.all([
    listWorkers(adminDb).catch(() => null),
    readQueuePause(adminDb, DISPATCHED_QUEUE).catch(() => null),
    queue.state(NO_JOB).then(
      () => true,
      () => false,
    ),
  ]);
  const alive = (workers ?? []).filter((worker: ListedWorker) => worker.heartbeatAgeMs < deadAfterMs);
  const parts = {
    database: part(workers !== null),
    queue: answers && pausedAt !== null ? ("paused" as const) : part(answers),
    leader: part(alive.some((worker) => worker.leads)),
    workers: {
      status: part(alive.length > 0),
      alive: alive.length,
      slots: alive.reduce((sum, worker) => sum + worker.slots, 0),
    },
  };
  const all = [parts.database, parts.queue, parts.leader, parts.workers.status];
  return { status: all.includes("failing") ? "failing" : parts.queue, ...parts };
}

function part(isOk: boolean): "ok" | "failing" {
  return isOk ? "ok" : "failing";
}
