import type { Profile } from "@shiftwork/pipeline";
import { createTurns } from "../turns/turns.ts";
import { ownProfile, type Countable, type OwnTokenizer } from "./own-tokenizer.ts";
import { runInThread } from "./run-in-thread.ts";
import type { CountedBy } from "./tokenizer-thread.ts";

/** Compiled tokenizers kept, of about 10 MB each: who was asked for longest ago leaves. */
const MOST_KEPT = 8;

/** A tokenizer as it is stored. */
export interface StoredTokenizer {
  readonly models: readonly string[];
  /** The `tokenizer.json`, deflated. */
  readonly file: Uint8Array;
}

/** A tokenizer that is ready to count, here or in a thread. */
export interface ReadyTokenizer {
  readonly profile: Profile;
  readonly own: OwnTokenizer;
}

/** Tokenizers that tenants brought, as this process (or thread) counts by them. The work is done in threads. */
export interface Tokenizers {
  /** The file as it is to be stored. Throws `TokenizerError` when it cannot be counted by. */
  check(tenantId: string, file: Uint8Array): Promise<Uint8Array>;
  /** The tokenizer of that id, compiled once; `read` is called when it has to be. `null` = it is not stored any more. */
  find(tenantId: string, id: string, read: () => Promise<StoredTokenizer | null>): Promise<ReadyTokenizer | null>;
  /** Counts what would take long: of a text its tokens, of messages each one's. */
  count(tenantId: string, by: CountedBy, input: Countable): Promise<readonly number[]>;
  /** How many of a tenant's tasks wait for their turn. */
  waiting(tenantId: string): number;
}

/** One task at a time, and tenants take turns: each may need much memory. */
export function createTokenizers(): Tokenizers {
  const turns = createTurns(1);
  const kept = new Map<string, Promise<ReadyTokenizer | null>>();

  async function inTurn<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    const over = await turns.take(tenantId);
    try {
      return await work();
    } finally {
      over();
    }
  }

  async function compile(tenantId: string, id: string, read: () => Promise<StoredTokenizer | null>) {
    const stored = await read();
    if (stored === null) return null;
    const { compiled } = await inTurn(tenantId, () => runInThread({ type: "compile", file: stored.file }));
    const own = { id, models: stored.models, compiled };
    return { own, profile: ownProfile(own) };
  }

  /** What is not there, or could not be compiled, is looked for again by the next to ask. */
  function keep(id: string, compiling: Promise<ReadyTokenizer | null>): Promise<ReadyTokenizer | null> {
    kept.set(id, compiling);
    const forget = (): void => void (kept.get(id) === compiling && kept.delete(id));
    compiling.then((ready) => ready ?? forget(), forget);
    for (const oldest of [...kept.keys()].slice(0, Math.max(0, kept.size - MOST_KEPT))) kept.delete(oldest);
    return compiling;
  }

  return {
    async check(tenantId, file) {
      return (await inTurn(tenantId, () => runInThread({ type: "check", file }))).file;
    },
    find(tenantId, id, read) {
      const known = kept.get(id) ?? compile(tenantId, id, read);
      kept.delete(id);
      return keep(id, known);
    },
    async count(tenantId, by, input) {
      return (await inTurn(tenantId, () => runInThread({ type: "count", by, input }))).tokens;
    },
    waiting: (tenantId) => turns.waiting(tenantId),
  };
}
