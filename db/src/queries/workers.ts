import { sql } from "kysely";
import type { Db } from "../transaction.ts";

export interface WorkerRow {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** Generations it runs at once. */
  readonly slots: number;
}

/** One row per worker, renewed every second: liveness for all its runs at once. */
export async function heartbeat(db: Db, worker: WorkerRow): Promise<void> {
  await sql`
    insert into workers (id, host, pid, slots) values (${worker.id}, ${worker.host}, ${worker.pid}, ${worker.slots})
    on conflict (id) do update set heartbeat_at = now()
  `.execute(db);
}

export async function removeWorker(db: Db, workerId: string): Promise<void> {
  await db.deleteFrom("workers").where("id", "=", workerId).execute();
}

/** Forgets workers that have been silent for an hour; their runs were taken from them long before. */
export async function removeSilentWorkers(db: Db): Promise<void> {
  await sql`delete from workers where heartbeat_at < now() - interval '1 hour'`.execute(db);
}

export interface ListedWorker extends WorkerRow {
  /** Generations it runs. */
  readonly busy: number;
  readonly startedAt: Date;
  readonly heartbeatAt: Date;
  readonly heartbeatAgeMs: number;
  /** Dispatches and repairs for all. */
  readonly leads: boolean;
}

/** Every worker that was heard of in the last hour, the one that leads first; as admin. */
export async function listWorkers(admin: Db): Promise<readonly ListedWorker[]> {
  const { rows } = await sql<ListedWorker>`
    select workers.id, host, pid, slots, started_at as "startedAt", heartbeat_at as "heartbeatAt",
      (extract(epoch from now() - heartbeat_at) * 1000)::int as "heartbeatAgeMs",
      coalesce(leases.expires_at > now(), false) as leads,
      (select count(*)::int from generations where worker_id = workers.id and status = 'running') as busy
    from workers left join leases on leases.name = 'leader' and leases.holder = workers.id
    order by leads desc, workers.started_at, workers.id
  `.execute(admin);
  return rows;
}
