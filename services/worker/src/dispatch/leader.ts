import type { Database } from "@shiftwork/db";

/** At most one process in the cluster leads; leadership ends with the connection that holds the lock. */
export interface Leader {
  /** True when this process leads, trying to become it if nobody does. */
  leads(): Promise<boolean>;
  /** Gives the lead away. Safe twice. */
  close(): Promise<void>;
}

/** The lead is a session advisory lock on one reserved connection: it dies with the process, kill -9 included. */
export function createLeader(database: Database): Leader {
  type Held = Awaited<ReturnType<Database["client"]["reserve"]>>;
  let held: Held | null = null;

  async function stillHolds(connection: Held): Promise<boolean> {
    const [row] = await connection<{ held: boolean }[]>`
      select exists (
        select from pg_locks
        where locktype = 'advisory' and pid = pg_backend_pid() and objid = hashtext('shiftwork.leader')::oid
      ) as held
    `.catch(() => []);
    return row?.held ?? false;
  }

  async function tryToLead(): Promise<Held | null> {
    const connection = await database.client.reserve();
    const [row] = await connection<{ won: boolean }[]>`
      select pg_try_advisory_lock(hashtext('shiftwork.leader')) as won
    `.catch(() => []);
    if (row?.won) return connection;
    connection.release();
    return null;
  }

  return {
    async leads() {
      if (held && !(await stillHolds(held))) {
        held.release();
        held = null;
      }
      held ??= await tryToLead();
      return held !== null;
    },
    async close() {
      const connection = held;
      held = null;
      if (!connection) return;
      await connection`select pg_advisory_unlock_all()`.catch(() => {});
      connection.release();
    },
  };
}
