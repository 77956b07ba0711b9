import type { Sql } from "postgres";

type Client = Sql<{ bigint: number }>;

/** One connection, held by one transaction at a time; what Kysely's dialect calls reserved. */
export interface Session {
  unsafe(text: string, parameters: readonly unknown[]): Promise<unknown>;
  release(): void;
}

/** The connections of one pool, opened on first use. */
export interface Sessions {
  reserve(): Promise<Session>;
  /** Refuses who still waits and closes every connection. Safe twice. */
  end(): Promise<void>;
}

interface Held {
  readonly client: Client;
  isLost: boolean;
  /** Refuses the statements under way. */
  readonly pending: Set<(error: Error) => void>;
}

/**
 * A pool whose connections are clients of their own. The driver's `reserve()` goes on handing statements to a connection
 * that was lost and perhaps is somebody else's by now, and writes to its closed socket, which ends the process
 * (porsager/postgres#1208). Here a lost session answers nothing but `CONNECTION_CLOSED` and is never used again.
 */
export function createSessions(
  size: number,
  connect: (onLost: () => void) => Client,
  endWithin: { readonly timeout: number },
): Sessions {
  const idle: Held[] = [];
  const all = new Set<Held>();
  const waiting: { resolve(session: Session): void; reject(error: Error): void }[] = [];
  let isEnded = false;

  function open(): Held {
    const held: Held = { client: connect(() => lose(held)), isLost: false, pending: new Set() };
    all.add(held);
    return held;
  }

  async function discard(held: Held): Promise<void> {
    all.delete(held);
    await held.client.end({ timeout: 0 });
  }

  /** An idle connection that still stands, or a new one while there is room. */
  function take(): Held | null {
    for (let held = idle.pop(); held !== undefined; held = idle.pop()) {
      if (!held.isLost) return held;
      void discard(held);
    }
    return all.size < size ? open() : null;
  }

  function giveBack(held: Held): void {
    if (held.isLost) void discard(held);
    else idle.push(held);
    if (waiting.length === 0) return;
    const next = take();
    if (next !== null) waiting.shift()?.resolve(sessionOn(next, giveBack));
  }

  return {
    reserve() {
      if (isEnded) return Promise.reject(connectionError("CONNECTION_ENDED"));
      const held = take();
      if (held !== null) return Promise.resolve(sessionOn(held, giveBack));
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    async end() {
      isEnded = true;
      for (const { reject } of waiting.splice(0)) reject(connectionError("CONNECTION_ENDED"));
      await Promise.all([...all].map((held) => held.client.end(endWithin)));
    },
  };
}

interface Statement {
  readonly text: string;
  readonly parameters: readonly unknown[];
}

/** Sets the tenant of a transaction; its answer says nothing new. */
export const SET_TENANT = "select set_config('app.tenant_id', $1, true)";

/** Nobody waits for their answers, so they go out with the statement behind them: one way to the server instead of three. */
const OPENING = new Set(["begin", SET_TENANT]);

/** Statements are few and repeat, so they are prepared. */
function sessionOn(held: Held, giveBack: (held: Held) => void): Session {
  let isReleased = false;
  let opening: Statement[] = [];
  return {
    async unsafe(text, parameters) {
      if (OPENING.has(text)) {
        opening.push({ text, parameters });
        return [];
      }
      const before = opening;
      opening = [];
      if (text !== "commit" && text !== "rollback") return runBehind(held, before, { text, parameters });
      const hasBegun = !before.some((statement) => statement.text === "begin");
      if (!hasBegun) return [];
      return text === "commit" ? run(held, { text, parameters }) : rollBack(held);
    },
    release() {
      if (isReleased) return;
      isReleased = true;
      giveBack(held);
    },
  };
}

/** The first that fails is the reason: those behind it only say that the transaction is aborted. */
async function runBehind(held: Held, before: readonly Statement[], statement: Statement): Promise<unknown> {
  const answers = await Promise.all([...before, statement].map((each) => run(held, each)));
  return answers.at(-1);
}

/** The driver leaves a statement that was written to a dying socket without an answer, so losing it answers them all. */
function lose(held: Held): void {
  held.isLost = true;
  for (const refuse of held.pending) refuse(connectionError("CONNECTION_CLOSED"));
  held.pending.clear();
}

function run(held: Held, { text, parameters }: Statement): Promise<unknown> {
  if (held.isLost) return Promise.reject(connectionError("CONNECTION_CLOSED"));
  return new Promise((resolve, reject) => {
    held.pending.add(reject);
    held.client
      .unsafe(text, parameters as never[], { prepare: true })
      .then(resolve, reject)
      .finally(() => held.pending.delete(reject));
  });
}

/** The server rolls back what it lost; a rollback that failed over it would hide why the transaction failed. */
async function rollBack(held: Held): Promise<unknown> {
  if (held.isLost) return [];
  try {
    return await run(held, { text: "rollback", parameters: [] });
  } catch (error) {
    if (held.isLost) return [];
    throw error;
  }
}

/** In the driver's own words, which callers know. */
function connectionError(code: "CONNECTION_CLOSED" | "CONNECTION_ENDED"): Error {
  return Object.assign(new Error(`the connection to the database is gone: ${code}`), { code });
}
