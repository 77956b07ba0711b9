import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { HttpProblem } from "../errors.ts";
import { openPreviewLine, type MostWaiting } from "./preview-line.ts";
import type { PlainProblem, PreviewOutcome, PreviewTask, PreviewThreadData } from "./preview-thread.ts";
import type { Previewer, PreviewRequest } from "./previewer.ts";

interface Asked {
  resolve(json: Uint8Array): void;
  reject(reason: unknown): void;
  /** Called once the thread is done with it, also when nobody waits for it any more. */
  over(): void;
}

/** A thread and what it has not answered yet. */
interface PreviewThread {
  readonly worker: Worker;
  readonly asked: Map<number, Asked>;
  watch: NodeJS.Timeout | undefined;
}

/** What previews need, and how long their line gets. */
export interface PreviewsInThread extends PreviewThreadData {
  readonly mostWaiting: MostWaiting;
  /** Without any answer, in milliseconds. Default 65,000: by then a request was aborted, and a stage does not come back. */
  readonly stuckAfterMs?: number;
}

const STUCK_AFTER_MS = 65_000;

/**
 * Makes previews in a thread with a database connection of its own: a chat of 10,000 messages keeps it busy for seconds,
 * and this thread not at all. Tenants take turns. It starts with the first preview, and anew when it ended; one that
 * owes an answer and gives none for `stuckAfterMs` is ended.
 */
export function previewsInThread({ mostWaiting, stuckAfterMs = STUCK_AFTER_MS, ...data }: PreviewsInThread): Previewer {
  const line = openPreviewLine(mostWaiting);
  let thread: PreviewThread | null = null;
  let lastId = 0;
  let closed = false;

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

  function ask(request: PreviewRequest, signal: AbortSignal, over: () => void): Promise<Uint8Array> {
    const id = ++lastId;
    const started = running();
    const { worker, asked } = started;
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        worker.postMessage({ type: "abort", id } satisfies PreviewTask, []);
        reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      asked.set(id, { resolve, reject, over: () => (signal.removeEventListener("abort", onAbort), over()) });
      if (asked.size === 1) watch(started);
      worker.postMessage({ type: "preview", id, request } satisfies PreviewTask, []);
    });
  }

  return {
    async preview(request, signal) {
      const over = await line.turn(request, signal);
      if (!closed && !signal.aborted) return ask(request, signal, over);
      over();
      throw signal.aborted ? signal.reason : shuttingDown();
    },
    async close() {
      closed = true;
      await thread?.worker.terminate();
    },
  };
}

function shuttingDown(): HttpProblem {
  return new HttpProblem("SHUTTING_DOWN", "This process is shutting down.", { retryAfterSeconds: 1 });
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
  request?.over();
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
  const all = [...asked.values()];
  asked.clear();
  for (const request of all) {
    request.reject(reason);
    request.over();
  }
}
