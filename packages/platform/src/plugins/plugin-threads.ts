import { fileURLToPath } from "node:url";
import { setTimeout } from "node:timers/promises";
import { Worker, type Transferable } from "node:worker_threads";
import type { Block } from "@shiftwork/pipeline";
import { createTurns } from "../turns/turns.ts";
import type { HostMessage, PluginTask, ThreadData, ThreadMessage } from "./plugin-thread.ts";

/** A little more than a plugin may take: the host's own timer then says what happened, and the thread ends anyway. */
const END_AFTER_MS = 2_050;
/** What a plugin has to heed its signal in, before its thread ends. */
const HEED_MS = 50;
/** Threads of one module at once. What is asked of it beyond that waits, within the time it has. */
const MOST_THREADS = 8;
/** What a thread has to start in, when nobody waits for it yet. */
const START_WITHIN_MS = 30_000;
/** Threads kept for the next call; under load more are started and ended again. */
const MOST_IDLE = 2;

/** The threads of one plugin, so that code that does not come back holds nothing up. They start when they are needed. */
export interface PluginThreads {
  /** Starts one and waits for it, so that the next to ask need not. Rejects when the module cannot run in a thread. */
  warmUp(): Promise<void>;
  /** What the plugin answers, unchecked. Rejects with the signal's reason, or with what went wrong. */
  ask(task: PluginTask, host?: PluginHost): Promise<unknown>;
  /** Ends them all; who still waits for one is rejected, and so is who asks later. */
  close(): Promise<void>;
}

/** What a task needs of the one who asks. */
export interface PluginHost {
  readonly signal?: AbortSignal | undefined;
  /** Handed over with the task. */
  readonly transfer?: readonly Transferable[];
  /** A block to be counted; the thread waits for it. */
  onCount?(block: Block): Promise<void>;
}

/** What a thread ends a task with. */
type Outcome = Exclude<ThreadMessage, { readonly type: "count" }>;

/** @param source The module that the threads import. */
export function openPluginThreads(source: ThreadData, mostThreads: number = MOST_THREADS): PluginThreads {
  const turns = createTurns(mostThreads);
  const threads = new Set<Worker>();
  const idle: Worker[] = [];
  let closed = false;

  function start(): Worker {
    const thread = new Worker(threadFile(), { workerData: source });
    threads.add(thread);
    return thread.on("error", () => undefined).on("exit", () => threads.delete(thread));
  }

  function keep(thread: Worker): void {
    // One that waits for work does not keep the process alive, and one that ends then is not taken again.
    thread.unref();
    if (idle.length < MOST_IDLE) idle.push(thread);
    else void thread.terminate();
  }

  return {
    async warmUp() {
      const thread = start();
      await askThread(thread, { type: "load" }, { signal: AbortSignal.timeout(START_WITHIN_MS) });
      keep(thread);
    },
    async ask(task, host = {}) {
      const late = AbortSignal.timeout(END_AFTER_MS);
      const signal = host.signal ? AbortSignal.any([host.signal, late]) : late;
      const over = await turns.take(source.url, signal);
      if (closed) {
        over();
        throw new Error("the plugin's threads were closed");
      }
      const thread = takeIdle(idle) ?? start();
      try {
        const outcome = await askThread(thread, task, { ...host, signal });
        keep(thread);
        over();
        if (outcome.type === "answer") return outcome.answer;
      } catch (error) {
        // Its place is taken until it is gone.
        void end(thread).finally(over);
        throw error;
      }
      throw new Error("the plugin threw");
    },
    async close() {
      closed = true;
      await Promise.all([...threads].map((thread) => thread.terminate()));
    },
  };
}

/** One that ended has no id any more; its exit may be known before its answer is, so it is looked at here. */
function takeIdle(idle: Worker[]): Worker | undefined {
  let thread = idle.pop();
  while (thread?.threadId === -1) thread = idle.pop();
  return thread;
}

/** The built file, also when this runs from source: `../..` is the package from `src/plugins` and `dist/plugins`. */
function threadFile(): string {
  return fileURLToPath(new URL("../../dist/plugins/plugin-thread.js", import.meta.url));
}

/** How the thread ends the task. Rejects when the thread itself ends, or with the signal's reason. */
async function askThread(
  thread: Worker,
  task: PluginTask,
  { signal, transfer = [], onCount }: PluginHost & { readonly signal: AbortSignal },
): Promise<Outcome> {
  signal.throwIfAborted();
  let cleanUp = (): void => {};
  const ended = new Promise<Outcome>((resolve, reject) => {
    const onMessage = (message: ThreadMessage): void => {
      if (message.type === "count") void onCount?.(message.block).catch(reject);
      else resolve(message);
    };
    const onEnd = (): void => reject(new Error("the plugin's thread ended"));
    const onError = (error: unknown): void => reject(error);
    const onAbort = (): void => reject(signal.reason as Error);
    thread.on("message", onMessage).on("error", onError).on("exit", onEnd);
    signal.addEventListener("abort", onAbort, { once: true });
    cleanUp = () => {
      thread.off("message", onMessage).off("error", onError).off("exit", onEnd);
      signal.removeEventListener("abort", onAbort);
    };
  });
  try {
    thread.ref();
    say(thread, task, transfer);
    return await ended;
  } finally {
    cleanUp();
  }
}

/** Tells it, and ends it a moment later; resolves when it is gone. */
async function end(thread: Worker): Promise<void> {
  say(thread, { type: "abort" });
  await setTimeout(HEED_MS);
  await thread.terminate();
}

function say(thread: Worker, message: HostMessage, transfer: readonly Transferable[] = []): void {
  thread.postMessage(message, transfer);
}
