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
