import { setTimeout as delay } from "node:timers/promises";
import { isDatabaseAway } from "@shiftwork/db";

/** Some 20 s. Counted, not timed: a process that was frozen for longer has its tries when it wakes. */
const PATIENCE = { tries: 80, pauseMs: 250 };

/** The database did not come back. The run gives way unended: the sweep, or another worker's reconciler, puts it back. */
export class DatabaseAwayError extends Error {
  override readonly name = "DatabaseAwayError";
}

/** Repeats a write while the connection is lost: a restart of the database must not cost a reply. Fences make it safe. */
export async function whileDatabaseIsAway<T>(write: () => Promise<T>, patience = PATIENCE): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await write();
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      if (tries >= patience.tries) throw new DatabaseAwayError("the database is away", { cause: error });
      await delay(patience.pauseMs);
    }
  }
}
