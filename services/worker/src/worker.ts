import { encodeId } from "@shiftwork/contracts";
import {
  CANCEL_CHANNEL,
  DISPATCH_CHANNEL,
  endFrozenSessions,
  FROZEN_AFTER_MS,
  removeWorker,
  type Database,
  type HeldRun,
  type WorkerRow,
} from "@shiftwork/db";
import {
  createLoop,
  createTokenizers,
  type FrameWriter,
  type LoadedPlugins,
  type Logger,
  type Loop,
  type LoopOptions,
  type Queue,
  type QueueConsumer,
} from "@shiftwork/platform";
import { createVectorCache, type EmbeddingProvider } from "@shiftwork/providers";
import type { WorkerConfig } from "./config.ts";
import { createDispatcher, type Dispatcher } from "./dispatch/dispatcher.ts";
import { createLeader, type Leader } from "./dispatch/leader.ts";
import { framesWhileAlive } from "./events/frames-while-alive.ts";
import { createActiveRuns, type ActiveRuns } from "./generation/active-runs.ts";
import type { RunDependencies } from "./generation/run-state.ts";
import { clearBulkActions } from "./maintenance/clear-bulk-actions.ts";
import { clearContent } from "./maintenance/clear-content.ts";
import { expire, expireEverywhere } from "./maintenance/expire.ts";
import { indexEmbeddings } from "./maintenance/index-embeddings.ts";
import { createOwnLease, type OwnLease } from "./maintenance/own-lease.ts";
import { reconcile } from "./maintenance/reconcile.ts";
import { settleAudits, settleAuditsEverywhere } from "./maintenance/settle-audits.ts";
import { sweepRuns } from "./maintenance/sweep-runs.ts";
import { takeBack } from "./maintenance/take-back.ts";
import { createJobHandler } from "./queue/handle-job.ts";
import { pauseWhileBlocked, type BlockGuard } from "./queue/pause-while-blocked.ts";

export interface WorkerDependencies {
  readonly database: Database;
  readonly queue: Queue;
  /** Where frames of running replies go; `null` = into the database. */
  readonly frames: FrameWriter | null;
  readonly logger: Logger;
  readonly row: WorkerRow;
  readonly masterKey: Uint8Array;
  readonly plugins: LoadedPlugins;
  /** Computes vectors for the tenants that chose so; starts with the first text. */
  readonly useLite: EmbeddingProvider;
  readonly config: WorkerConfig;
}

/** A running worker: takes jobs, and, while it leads, dispatches and reconciles. */
export interface RunningWorker {
  /** Takes nothing new, lets runs end for `drainMs`, hands the rest back. Safe twice. */
  stop(drainMs: number): Promise<void>;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Wires the stations and starts them; opens nothing and closes only what it opened. */
export async function startWorker(deps: WorkerDependencies): Promise<RunningWorker> {
  const { database, queue, row, config, logger } = deps;
  const activeRuns = createActiveRuns();
  const leader = createLeader(database.db, row.id, config.LEASE_MS);
  // Alive before the first job: a run of a worker without a row would be taken for a dead one's.
  const lease = createOwnLease({
    sweep: () => sweepRuns(database.db, row, activeRuns),
    deadAfterMs: config.WORKER_DEAD_AFTER_MS,
  });
  await lease.renew();
  const dispatcher = createDispatcher({
    db: database.db,
    queue,
    windowRatio: config.DISPATCH_WINDOW,
    deadAfterMs: config.WORKER_DEAD_AFTER_MS,
    lookAroundMs: config.DISPATCH_INTERVAL_MS,
  });
  const loops = createLoops(deps, lease, leader, dispatcher);
  const listeners = await listen(database, activeRuns, loops, dispatcher);
  const consumer = await queue.consume(createJobHandler(runDependencies(deps, activeRuns, lease)), {
    concurrency: config.WORKER_CONCURRENCY,
    onError: (error) => logger.warn({ err: error }, "queue error"),
  });
  const guard = pauseWhileBlocked({ consumer, limitMs: config.EVENT_LOOP_LAG_LIMIT_MS, logger });
  for (const loop of Object.values(loops)) loop.start();
  logger.info(
    { workerId: encodeId("worker", row.id), slots: row.slots, queue: queue.backend, plugins: deps.plugins.list },
    "worker ready",
  );

  let stopping: Promise<void> | null = null;
  return {
    stop(drainMs) {
      stopping ??= stop({ deps, activeRuns, leader, loops, listeners, consumer, guard }, drainMs);
      return stopping;
    },
  };
}

function runDependencies(deps: WorkerDependencies, activeRuns: ActiveRuns, lease: OwnLease): RunDependencies {
  const { config } = deps;
  return {
    db: deps.database.db,
    workerId: deps.row.id,
    activeRuns,
    lease,
    masterKey: deps.masterKey,
    timeouts: {
      connectTimeoutMs: config.PROVIDER_CONNECT_TIMEOUT_MS,
      idleTimeoutMs: config.PROVIDER_IDLE_TIMEOUT_MS,
    },
    retry: {
      baseMs: config.PROVIDER_RETRY_BASE_MS,
      capMs: config.PROVIDER_RETRY_CAP_MS,
      longestInPlaceMs: config.PROVIDER_WAIT_IN_PLACE_MS,
      mostToldWaits: config.PROVIDER_TOLD_WAITS,
      random: Math.random,
    },
    summaryTimeoutMs: config.SUMMARY_TIMEOUT_MS,
    useLite: deps.useLite,
    tokenizers: createTokenizers(),
    vectorCache: createVectorCache(),
    frame: { frameMs: config.FRAME_MS, frameBytes: config.FRAME_BYTES },
    frames: deps.frames && framesWhileAlive(deps.frames, lease),
    plugins: deps.plugins,
    logger: deps.logger,
  };
}

type Loops = Readonly<
  Record<
    "sweep" | "dispatch" | "reconcile" | "endFrozen" | "indexEmbeddings" | keyof ReturnType<typeof createTidying>,
    Loop
  >
>;

type AsLeader = (work: () => Promise<boolean | void>) => () => Promise<boolean | void>;

function createLoops(
  deps: WorkerDependencies,
  lease: OwnLease<readonly HeldRun[]>,
  leader: Leader,
  dispatcher: Dispatcher,
): Loops {
  const { config, queue, logger } = deps;
  const { db } = deps.database;
  const deadAfterMs = config.WORKER_DEAD_AFTER_MS;
  const onError = (name: string, error: unknown): void =>
    logger.warn({ err: error, loop: name }, "a loop's run failed");
  const asLeader: AsLeader = (work) => async () => ((await leader.leads()) ? work() : false);
  return {
    sweep: createLoop({
      name: "sweep",
      intervalMs: config.HEARTBEAT_MS,
      runOnce: async () => takeBack(db, await lease.renew(), deps.frames),
      onError,
    }),
    dispatch: createLoop({
      name: "dispatch",
      intervalMs: config.DISPATCH_INTERVAL_MS,
      runOnce: async () => ((await leader.leads()) ? dispatcher.runOnce() : dispatcher.forget()),
      onError,
    }),
    reconcile: createLoop({
      name: "reconcile",
      intervalMs: config.RECONCILE_INTERVAL_MS,
      runOnce: asLeader(() =>
        reconcile({
          db,
          queue,
          frames: deps.frames,
          deadAfterMs,
          unclaimedAfterMs: config.UNCLAIMED_AFTER_MS,
          deadlineGraceMs: config.DEADLINE_GRACE_MS,
        }),
      ),
      onError,
    }),
    // Apart from what it frees: a reconciler that waits for a frozen process's lock cannot end that process's session.
    endFrozen: createLoop({
      name: "endFrozen",
      intervalMs: config.RECONCILE_INTERVAL_MS,
      runOnce: asLeader(async () => {
        const ended = await endFrozenSessions(db, FROZEN_AFTER_MS);
        if (ended > 0) logger.warn({ ended }, "sessions of frozen processes ended");
      }),
      onError,
    }),
    indexEmbeddings: createLoop({
      name: "indexEmbeddings",
      intervalMs: config.EMBEDDING_INTERVAL_MS,
      runOnce: (signal) =>
        asLeader(() => indexEmbeddings({ ...embedding(deps), signal, leads: () => leader.leads() }))(),
      onError,
    }),
    ...createTidying(deps, asLeader, onError),
  };
}

function embedding({ database, useLite, masterKey, config, logger }: WorkerDependencies) {
  const timeouts = {
    connectTimeoutMs: config.PROVIDER_CONNECT_TIMEOUT_MS,
    idleTimeoutMs: config.PROVIDER_IDLE_TIMEOUT_MS,
  };
  return { db: database.db, useLite, masterKey, timeouts, logger };
}

/** Where something happened lately every minute, everywhere every hour: a tenant costs a transaction. */
function createTidying(deps: WorkerDependencies, asLeader: AsLeader, onError: LoopOptions["onError"]) {
  const { db } = deps.database;
  const { EVENT_RETENTION_MS, BULK_ACTIONS_KEPT_DAYS } = deps.config;
  const tidying = (name: string, intervalMs: number, work: () => Promise<void>): Loop =>
    createLoop({ name, intervalMs, runOnce: asLeader(work), onError });
  return {
    expire: tidying("expire", MINUTE_MS, () => expire(db, EVENT_RETENTION_MS)),
    expireEverywhere: tidying("expireEverywhere", HOUR_MS, () => expireEverywhere(db, EVENT_RETENTION_MS)),
    clearBulkActions: tidying("clearBulkActions", HOUR_MS, () => clearBulkActions(db, BULK_ACTIONS_KEPT_DAYS * DAY_MS)),
    clearContent: tidying("clearContent", HOUR_MS, () => clearContent(db)),
    settleAudits: tidying("settleAudits", MINUTE_MS, () => settleAudits(db)),
    settleAuditsEverywhere: tidying("settleAuditsEverywhere", HOUR_MS, () => settleAuditsEverywhere(db)),
  };
}

/** The fast paths; the loops find what a lost signal leaves. */
async function listen(
  database: Database,
  activeRuns: ActiveRuns,
  loops: Loops,
  dispatcher: Dispatcher,
): Promise<() => Promise<void>> {
  const cancels = await database.client.listen(
    CANCEL_CHANNEL,
    (generationId) => activeRuns.abort(generationId, "cancelled"),
    () => loops.sweep.wake(),
  );
  const notice = (tenantId: string): void => {
    dispatcher.notice(tenantId === "" ? null : tenantId);
    loops.dispatch.wake();
  };
  const work = await database.client.listen(DISPATCH_CHANNEL, notice, () => notice(""));
  return async () => {
    await Promise.all([cancels.unlisten(), work.unlisten()]);
  };
}

interface Parts {
  readonly deps: WorkerDependencies;
  readonly activeRuns: ActiveRuns;
  readonly leader: Leader;
  readonly loops: Loops;
  readonly listeners: () => Promise<void>;
  readonly consumer: QueueConsumer;
  readonly guard: BlockGuard;
}

async function stop(parts: Parts, drainMs: number): Promise<void> {
  const { deps, activeRuns, leader, loops, listeners, consumer, guard } = parts;
  guard.stop();
  // Somebody else leads and takes the line over at once; this worker only ends what it runs.
  const { sweep, ...led } = loops;
  await Promise.all(Object.values(led).map((loop) => loop.stop()));
  await leader.close();
  await consumer.pause();
  const running = activeRuns.list().length;
  if (running > 0) deps.logger.info({ running, drainMs }, "draining");
  const drain = setTimeout(() => activeRuns.abortAll("draining"), drainMs);
  await activeRuns.settled();
  clearTimeout(drain);
  await consumer.close();
  await sweep.stop();
  await listeners();
  await removeWorker(deps.database.db, deps.row.id);
}
