import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { HttpProblem } from "../errors.ts";
import type { PlainProblem, PreviewOutcome, PreviewTask, PreviewThreadData } from "./preview-thread.ts";
import type { Previewer } from "./previewer.ts";

interface Waiting {
  resolve(json: Uint8Array): void;
  reject(reason: unknown): void;
}

/** A thread and what it has not answered yet, also when nobody waits for it any more (`null`). */
interface PreviewThread {
  readonly worker: Worker;
  readonly asked: Map<number, Waiting | null>;
  watch: NodeJS.Timeout | undefined;
}

/** Without any answer; a little more than a request waits: by then it was aborted, and a stage does not come back. */
const STUCK_AFTER_MS = 65_000;

/**
 * Makes previews in a thread with a database connection of its own: a chat of 10,000 messages keeps it busy for seconds,
 * and this thread not at all. It starts with the first preview, and anew when it ended; one that owes an answer
 * and gives none for `stuckAfterMs` is ended.
 */
export function previewsInThread(data: PreviewThreadData, stuckAfterMs: number = STUCK_AFTER_MS): Previewer {
  let thread: PreviewThread | null = null;
  let lastId = 0;

  function running(): PreviewThread {
    if (thread !== null) return thread;
    // Built files import built files, whatever this process was told to import.
    const worker = new Worker(threadFile(), { workerData: data, execArgv: [] });
    const started: PreviewThread = { worker, asked: new Map(), watch: undefined };
    const onEnd = (reason: unknown) => {
      if (thread === started) thread = null;
      endWith(started, reason);
    };
    // One that waits for work does not keep the process alive.
    worker.unref();
    worker.on("message", (outcome: PreviewOutcome) => {
      settle(started, outcome);
      watch(started);
    });
    worker.on("error", onEnd).on("exit", () => onEnd(new Error("the thread of previews ended")));
    thread = started;
    return started;
  }

  /** Anew with every answer, as long as there is one to wait for. */
  function watch(started: PreviewThread): void {
    clearTimeout(started.watch);
    if (started.asked.size === 0) return;
    started.watch = setTimeout(() => {
      if (thread === started) thread = null;
      endWith(started, stuck());
      void started.worker.terminate();
    }, stuckAfterMs).unref();
  }

  return {
    preview(request, signal) {
      const id = ++lastId;
      return new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const started = running();
        const { worker, asked } = started;
        const onAbort = () => {
          asked.set(id, null);
          worker.postMessage({ type: "abort", id } satisfies PreviewTask, []);
          reject(signal.reason);
        };
        const ended = () => signal.removeEventListener("abort", onAbort);
        signal.addEventListener("abort", onAbort, { once: true });
        asked.set(id, {
          resolve: (json) => (ended(), resolve(json)),
          reject: (reason) => (ended(), reject(reason)),
        });
        if (asked.size === 1) watch(started);
        worker.postMessage({ type: "preview", id, request } satisfies PreviewTask, []);
      });
    },
    async close() {
      await thread?.worker.terminate();
    },
  };
}

function stuck(): HttpProblem {
  return new HttpProblem("SERVICE_UNAVAILABLE", "A preview did not come to an end and was given up; try again.", {
    retryAfterSeconds: 1,
  });
}

/** The built file, also when this runs from source: `../..` is the package from `src/preview` and `dist/preview`. */
function threadFile(): string {
  return fileURLToPath(new URL("../../dist/preview/preview-thread.js", import.meta.url));
}

function settle({ asked }: PreviewThread, outcome: PreviewOutcome): void {
  const request = asked.get(outcome.id);
  asked.delete(outcome.id);
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

/** Only those who wait for this thread: another one may have been started already. */
function endWith({ asked, watch }: PreviewThread, reason: unknown): void {
  clearTimeout(watch);
  for (const request of asked.values()) request?.reject(reason);
  asked.clear();
}
