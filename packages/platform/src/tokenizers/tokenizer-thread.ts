// Thread of one task: a tokenizer takes half a second to compile, and a hostile text of a megabyte as long to count.
// Started by `run-in-thread.ts`.
import { parseTokenizer, PROFILES, readTokenizer, TokenizerError, type CompiledTokenizer } from "@shiftwork/pipeline";
import { parentPort, workerData, type Transferable } from "node:worker_threads";
import { deflateSync, inflateSync } from "node:zlib";
import { countEach, ownProfile, type Countable, type OwnTokenizer } from "./own-tokenizer.ts";

/** What counts: a built-in profile by its id, or a tokenizer. */
export type CountedBy = keyof typeof PROFILES | OwnTokenizer;

export type TokenizerTask =
  /** Whether a file can be counted by, as it was sent. */
  | { readonly type: "check"; readonly file: Uint8Array }
  /** A file as it is stored. */
  | { readonly type: "compile"; readonly file: Uint8Array }
  | { readonly type: "count"; readonly by: CountedBy; readonly input: Countable };

export type TokenizerOutcome =
  /** The file as it is to be stored: deflated. */
  | { readonly type: "checked"; readonly file: Uint8Array<ArrayBuffer> }
  | { readonly type: "compiled"; readonly compiled: CompiledTokenizer }
  | { readonly type: "counted"; readonly tokens: readonly number[] }
  | { readonly type: "refused"; readonly pointer: string; readonly problem: string };

const port = parentPort;
if (port === null) throw new Error("this file is the thread of tokenizers");
const outcome = outcomeOf(workerData as TokenizerTask);
port.postMessage(outcome, buffersOf(outcome));

function outcomeOf(task: TokenizerTask): TokenizerOutcome {
  try {
    return work(task);
  } catch (error) {
    if (!(error instanceof TokenizerError)) throw error;
    return { type: "refused", pointer: error.pointer, problem: error.problem };
  }
}

function work(task: TokenizerTask): TokenizerOutcome {
  switch (task.type) {
    case "check":
      readTokenizer(parseTokenizer(textOf(task.file)));
      return { type: "checked", file: Uint8Array.from(deflateSync(task.file)) };
    case "compile":
      return { type: "compiled", compiled: readTokenizer(parseTokenizer(textOf(inflateSync(task.file)))) };
    case "count": {
      const profile = typeof task.by === "string" ? PROFILES[task.by] : ownProfile(task.by);
      return { type: "counted", tokens: countEach(profile, task.input) };
    }
  }
}

function textOf(file: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(file);
  } catch {
    throw new TokenizerError("", "is not UTF-8");
  }
}

/** Handed over instead of copied. */
function buffersOf(done: TokenizerOutcome): Transferable[] {
  if (done.type === "checked") return [done.file.buffer];
  if (done.type !== "compiled") return [];
  const { tokens, pairs, merges, ownCosts } = done.compiled.vocabulary;
  const arrays = [tokens.slots, tokens.entries, pairs, merges?.starts, merges?.leftBytes, merges?.ranks, ownCosts];
  return arrays.filter((array) => array !== undefined && array !== null).map(({ buffer }) => buffer as ArrayBuffer);
}
