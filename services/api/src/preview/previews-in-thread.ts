import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { HttpProblem } from "../errors.ts";
import type { PlainProblem, PreviewOutcome, PreviewTask, PreviewThreadData } from "./preview-thread.ts";
import type { Previewer } from "./previewer.ts";

interface Waiting {
  resolve(json: Uint8Array): void;
  reject(reason: unknown): void;
}

/**
 * Makes previews in a thread with a database connection of its own: a chat of 10,000 messages keeps it busy for seconds,
 * and this thread not at all. It starts with the first preview, and anew when it ended.
 */
export function previewsInThread(data: PreviewThreadData): Previewer {
  const waiting = new Map<number, Waiting>();
  let thread: Worker | null = null;
  let lastId = 0;

  function running(): Worker {
    if (thread !== null) return thread;
    // Built files import built files, whatever this process was told to import.
    const started = new Worker(threadFile(), { workerData: data, execArgv: [] });
    const onEnd = (reason: unknown) => {
      if (thread === started) thread = null;
      failAll(waiting, reason);
    };
    // One that waits for work does not keep the process alive.
    started.unref();
    started.on("message", (outcome: PreviewOutcome) => settle(waiting, outcome));
    started.on("error", onEnd).on("exit", () => onEnd(new Error("the thread of previews ended")));
    thread = started;
    return started;
  }

  return {
    preview(request, signal) {
      const id = ++lastId;
      return new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const worker = running();
        const onAbort = () => {
          waiting.delete(id);
          worker.postMessage({ type: "abort", id } satisfies PreviewTask, []);
          reject(signal.reason);
        };
        const ended = () => signal.removeEventListener("abort", onAbort);
        signal.addEventListener("abort", onAbort, { once: true });
        waiting.set(id, {
          resolve: (json) => (ended(), resolve(json)),
          reject: (reason) => (ended(), reject(reason)),
        });
        worker.postMessage({ type: "preview", id, request } satisfies PreviewTask, []);
      });
    },
    async close() {
      await thread?.terminate();
    },
  };
}

/** The built file, also when this runs from source: `../..` is the package from `src/preview` and `dist/preview`. */
function threadFile(): string {
  return fileURLToPath(new URL("../../dist/preview/preview-thread.js", import.meta.url));
}

function settle(waiting: Map<number, Waiting>, outcome: PreviewOutcome): void {
  const request = waiting.get(outcome.id);
  waiting.delete(outcome.id);
  if (outcome.type === "done") request?.resolve(outcome.json);
  else request?.reject(outcome.type === "problem" ? asThrown(outcome.problem) : outcome.error);
}

function asThrown({ code, message, params, errors, retryAfterSeconds }: PlainProblem): HttpProblem {
  return new HttpProblem(code, message, {
    params,
    errors,
    ...(retryAfterSeconds === null ? {} : { retryAfterSeconds }),
  });
}

function failAll(waiting: Map<number, Waiting>, reason: unknown): void {
  for (const request of waiting.values()) request.reject(reason);
  waiting.clear();
}
