import { decodeId } from "@shiftwork/contracts";
import type { Driven } from "./drive.ts";
import type { FaultName } from "./fault-names.ts";
import type { Followed } from "./followed.ts";
import type { ChaosOptions } from "./options.ts";
import type { GenerationFacts, MessageFacts, Rows, Transition } from "./load-rows.ts";

/** What clients saw beside what the database says: all that the checks look at. */
export interface Evidence {
  readonly followed: readonly Followed[];
  readonly rows: Rows;
  readonly deaths: readonly string[];
  readonly surprises: readonly string[];
  /**
   * PostgreSQL crashed in this run, or the Redis that replies stream through lost its data or was away: live events are
   * in an unlogged table and in memory, so readers may be told of gaps.
   */
  readonly eventsWereLost: boolean;
  /** The events that stand in the database, the last of each generation among them, may be lost as well. */
  readonly databaseCrashed: boolean;
  /** So many attempts the injected faults can have cost. */
  readonly attemptsAtRisk: number;
  /** `undefined` = there is no such row. */
  rowOf(turn: Followed): GenerationFacts | undefined;
  /** The assistant messages of a generation. */
  repliesOf(row: GenerationFacts): readonly MessageFacts[];
  transitionsOf(row: GenerationFacts): readonly Transition[];
}

export function collectEvidence(
  { followed, surprises }: Pick<Driven, "followed" | "surprises">,
  rows: Rows,
  run: Pick<Evidence, "deaths"> & { readonly injected: readonly FaultName[] } & Pick<ChaosOptions, "workers" | "slots">,
): Evidence {
  const byId = new Map(rows.generations.map((row) => [row.id, row]));
  const replies = groupBy(
    rows.messages.filter(({ role }) => role === "assistant"),
    ({ generationId }) => generationId ?? "",
  );
  const transitions = groupBy(rows.transitions, ({ generationId }) => generationId);
  const databaseCrashed = run.injected.includes("postgres-crashed");
  return {
    followed,
    rows,
    surprises,
    deaths: run.deaths,
    databaseCrashed,
    eventsWereLost: databaseCrashed || run.injected.some((fault) => fault.startsWith("redis-")),
    attemptsAtRisk: run.injected.reduce((sum, fault) => sum + run.slots * workersHitBy(fault, run.workers), 0),
    rowOf: (turn) => byId.get(decodeId("generation", turn.id) ?? ""),
    repliesOf: (row) => replies.get(row.id) ?? [],
    transitionsOf: (row) => transitions.get(row.id) ?? [],
  };
}

/** A worker that cannot reach the database for a while is taken for dead, as one is that stands still. */
function workersHitBy(fault: FaultName, workers: number): number {
  if (fault.startsWith("postgres-") || fault === "workers-rolled") return workers;
  return fault.startsWith("worker-") || fault.startsWith("leader-") || fault.endsWith("-frozen") ? 1 : 0;
}

export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
