import { sql } from "kysely";
import type { Db } from "../transaction.ts";

/**
 * Ends sessions whose process froze in the middle of a statement, and with them the locks others wait for; returns how
 * many. A driver that has a statement described first lets the server wait for its second half; to the server that is a
 * statement under way, and no time-out of its own ends it (one inside an idle transaction has one: `client.ts`).
 * As the login user, who may end its own sessions.
 */
export async function endFrozenSessions(db: Db, frozenAfterMs: number): Promise<number> {
  return db.transaction().execute(async (tx) => {
    await sql`set local role none`.execute(tx);
    const { rows } = await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and usename = session_user and application_name like 'shiftwork-%'
        and state = 'active' and wait_event = 'ClientRead'
        and state_change < now() - make_interval(secs => ${frozenAfterMs / 1000})
    `.execute(tx);
    return rows.length;
  });
}
