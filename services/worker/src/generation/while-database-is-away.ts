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
      if (!isConnectionLoss(error) || performance.now() > giveUpAt) throw error;
      await delay(PAUSE_MS);
    }
  }
}

/** postgres.js names lost connections; class 57P = the server shuts down or starts up. */
function isConnectionLoss(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^(CONNECTION_|CONNECT_TIMEOUT$|57P|ECONNREFUSED$|ECONNRESET$|EPIPE$)/.test(code);
}
