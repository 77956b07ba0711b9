import { setTimeout as delay } from "node:timers/promises";

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
      if (!passes(error)) throw error;
      if (tries >= patience.tries) throw new DatabaseAwayError("the database is away", { cause: error });
      await delay(patience.pauseMs);
    }
  }
}

/**
 * The driver names lost connections. Of the server's codes: 57P = it shuts down or starts up, 53 = it is out of something,
 * 25P03 = it ended a transaction this process slept in, 40001 and 40P01 = another transaction won.
 */
function passes(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^(CONNECTION_|CONNECT_TIMEOUT$|57P|53|25P03$|40001$|40P01$|ECONNREFUSED$|ECONNRESET$|EPIPE$)/.test(code);
}
