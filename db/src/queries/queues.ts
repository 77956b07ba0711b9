import { sql } from "kysely";
import type { Db } from "../transaction.ts";
import { DISPATCH_CHANNEL } from "./generations.ts";

/** The queue every generation goes through, as the API names it. */
export const DISPATCHED_QUEUE = "default";

/**
 * Stops new starts: nothing is handed out any more, and what was handed out and not begun is taken back within a pass of
 * the reconciler. What runs goes on. As `shiftwork_admin`; safe twice, the first time stays.
 */
export async function pauseQueue(db: Db, name: string): Promise<void> {
  await sql`
    insert into queues (name, paused_at) values (${name}, now())
    on conflict (name) do update set paused_at = coalesce(queues.paused_at, excluded.paused_at)
  `.execute(db);
}

/** Lets the line go on at once. As `shiftwork_admin`. */
export async function resumeQueue(db: Db, name: string): Promise<void> {
  await sql`
    with resumed as (update queues set paused_at = null where name = ${name})
    select pg_notify(${DISPATCH_CHANNEL}, '')
  `.execute(db);
}

/** Since when the queue is paused; null = it runs. */
export async function readQueuePause(db: Db, name: string): Promise<Date | null> {
  const row = await db.selectFrom("queues").select("paused_at as pausedAt").where("name", "=", name).executeTakeFirst();
  return row?.pausedAt ?? null;
}
