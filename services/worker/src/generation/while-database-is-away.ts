import { setTimeout as delay } from "node:timers/promises";

/** How long a write is tried again; after that the run gives way and the sweep puts it back into the line. */
const TRY_FOR_MS = 20_000;
const PAUSE_MS = 250;

/** Repeats a write while the connection is lost: a restart of the database must not cost a reply. Fences make it safe. */
export async function whileDatabaseIsAway<T>(write: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + TRY_FOR_MS;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!passes(error) || performance.now() > giveUpAt) throw error;
      await delay(PAUSE_MS);
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
