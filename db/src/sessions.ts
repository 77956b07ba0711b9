import type { Sql } from "postgres";

type Client = Sql<{ bigint: number }>;

export interface Statement {
  readonly text: string;
  readonly parameters: readonly unknown[];
}

/** The rows of a statement, what it was, and how many rows it changed or found. */
export interface Answer extends Iterable<unknown> {
  readonly command: string;
  readonly count: number;
}

/** One connection, held by one transaction at a time. */
export interface Session {
  run(statement: Statement): Promise<Answer>;
  /** Runs a statement ahead of the next ones, and with them: they fail if it does, and its answer is nobody's. */
  sendAlong(statement: Statement): void;
  /** Begins a transaction with the first statement that follows. */
  begin(): void;
  commit(): Promise<void>;
  rollback(): Promise<void>;
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

const BEGIN: Statement = { text: "begin", parameters: [] };
const COMMIT: Statement = { text: "commit", parameters: [] };
const ROLLBACK: Statement = { text: "rollback", parameters: [] };

function sessionOn(held: Held, giveBack: (held: Held) => void): Session {
  let isReleased = false;
  /** Nobody waits for their answers: they go out with what follows. */
  let ahead: Statement[] = [];

  async function runBehind(statement: Statement): Promise<Answer> {
    const before = ahead.map((each) => run(held, each));
    ahead = [];
    const answer = run(held, statement);
    // The first that fails is the reason: those behind it only say that the transaction is aborted.
    await Promise.all([...before, answer]);
    return answer;
  }

  return {
    run: runBehind,
    sendAlong: (statement) => void ahead.push(statement),
    begin: () => void ahead.push(BEGIN),
    async commit() {
      const { command } = await runBehind(COMMIT);
      // Of what it had to abort the server says so here, and calls it no error.
      if (command === "ROLLBACK") throw new Error("the transaction was aborted and not committed");
    },
    async rollback() {
      const wasSent = !ahead.includes(BEGIN);
      ahead = [];
      if (wasSent) await rollBack(held);
    },
    release() {
      if (isReleased) return;
      isReleased = true;
      giveBack(held);
    },
  };
}

/** The driver leaves a statement that was written to a dying socket without an answer, so losing it answers them all. */
function lose(held: Held): void {
  held.isLost = true;
  for (const refuse of held.pending) refuse(connectionError("CONNECTION_CLOSED"));
  held.pending.clear();
}

/** Statements are few and repeat, so they are prepared. */
function run(held: Held, { text, parameters }: Statement): Promise<Answer> {
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
async function rollBack(held: Held): Promise<void> {
  if (held.isLost) return;
  try {
    await run(held, ROLLBACK);
  } catch (error) {
    if (!held.isLost) throw error;
  }
}

/** In the driver's own words, which callers know. */
function connectionError(code: "CONNECTION_CLOSED" | "CONNECTION_ENDED"): Error {
  return Object.assign(new Error(`the connection to the database is gone: ${code}`), { code });
}
