import {
  endDueWaits,
  findHeads,
  markDispatched,
  publishRoom,
  readDispatchWindow,
  type Db,
  type Undispatched,
} from "@shiftwork/db";
import type { Queue, QueuedJob } from "@shiftwork/platform";
import { chooseFairly, settle, type Choice } from "./choose-fairly.ts";
import { createReadyList } from "./ready-list.ts";

export interface DispatcherOptions {
  readonly db: Db;
  readonly queue: Queue;
  /** In flight at once = slots of the living workers × this. Keeps the queue short: order is decided here. */
  readonly windowRatio: number;
  /** A worker silent for this long is dead. */
  readonly deadAfterMs: number;
  /** All lines are looked at this often, even when no signal came. */
  readonly lookAroundMs: number;
}

/** Hands generations to the queue, fairly. One process at a time runs it, the leader. */
export interface Dispatcher {
  /** A signal: the tenant's line changed; null = anybody's line, limits or pause may have. */
  notice(tenantId: string | null): void;
  /** One pass: fills the window. Resolves with the milliseconds until a told wait is over, if anybody waits for one. */
  runOnce(): Promise<number | undefined>;
  /** Somebody else leads. */
  forget(): void;
}

/** Ranks are fractions, a queue's priorities whole numbers: this keeps weights up to 100 apart. */
const PRIORITIES_PER_RANK = 100;

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { db, queue, windowRatio, deadAfterMs } = options;
  const ready = createReadyList(options.lookAroundMs);

  async function pass(): Promise<number | undefined> {
    const waiting = await publishRoom(db, { windowRatio, deadAfterMs });
    // While nobody waits who may have a place, the API hands out what is free.
    if (!waiting.dispatchable) return msUntil(waiting.nextDueMs);
    const window = await readDispatchWindow(db, deadAfterMs);
    if (window.nextDueMs !== null && window.nextDueMs <= 0) {
      for (const tenantId of await endDueWaits(db)) ready.notice(tenantId);
    }
    await ready.refresh(db);
    const taken = [...window.inFlight.values()].reduce((sum, count) => sum + count, 0);
    if (!window.paused) await fill(new Map(window.inFlight), Math.ceil(window.slots * windowRatio) - taken);
    return msUntil(window.nextDueMs);
  }

  /** Again for the places of tenants that had fewer than was thought, until the window is full or nobody may have more. */
  async function fill(inFlight: Map<string, number>, room: number): Promise<void> {
    for (let left = room; left > 0;) {
      const choices = chooseFairly(ready.contenders(inFlight), left);
      if (choices.length === 0) return;
      const jobs = await handOut(choices, inFlight);
      for (const { tenantId } of jobs) inFlight.set(tenantId, (inFlight.get(tenantId) ?? 0) + 1);
      left -= jobs.length;
    }
  }

  async function handOut(
    choices: readonly Choice[],
    inFlight: ReadonlyMap<string, number>,
  ): Promise<readonly QueuedJob[]> {
    const wanted = countByTenant(choices);
    const lines = byTenant(
      await findHeads(
        db,
        [...wanted].map(([tenantId, count]) => ({ tenantId, count })),
      ),
    );
    const jobs = toJobs(choices, lines);
    // The queue first, the mark after: a crash in between adds the same job id again, which the queue ignores.
    if (jobs.length > 0) {
      await queue.add(jobs);
      await markDispatched(db, jobs);
    }
    const given = countByTenant(jobs);
    for (const [tenantId, owed] of settle(ready.contenders(inFlight), given)) {
      ready.settle(tenantId, owed, given.has(tenantId));
    }
    for (const [tenantId, count] of wanted) {
      if ((lines.get(tenantId)?.length ?? 0) <= count) ready.drop(tenantId);
    }
    return jobs;
  }

  return {
    notice: (tenantId) => ready.notice(tenantId),
    forget: () => ready.forget(),
    async runOnce() {
      try {
        return await pass();
      } catch (error) {
        ready.forget();
        throw error;
      }
    },
  };
}

function msUntil(dueMs: number | null): number | undefined {
  return dueMs === null ? undefined : Math.max(0, Math.ceil(dueMs));
}

/** The first of each tenant's line for its first choice, and so on; a choice whose line has ended gets none. */
function toJobs(choices: readonly Choice[], lines: ReadonlyMap<string, readonly Undispatched[]>): readonly QueuedJob[] {
  const next = new Map([...lines].map(([tenantId, line]) => [tenantId, line.values()]));
  return choices.flatMap(({ tenantId, rank }) => {
    const head = next.get(tenantId)?.next().value;
    return head === undefined ? [] : [{ ...head, priority: Math.max(1, Math.ceil(rank * PRIORITIES_PER_RANK)) }];
  });
}

function countByTenant(entries: readonly { readonly tenantId: string }[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { tenantId } of entries) counts.set(tenantId, (counts.get(tenantId) ?? 0) + 1);
  return counts;
}

function byTenant(heads: readonly Undispatched[]): ReadonlyMap<string, readonly Undispatched[]> {
  const lines = new Map<string, Undispatched[]>();
  for (const head of heads) {
    const line = lines.get(head.tenantId) ?? [];
    line.push(head);
    lines.set(head.tenantId, line);
  }
  return lines;
}
