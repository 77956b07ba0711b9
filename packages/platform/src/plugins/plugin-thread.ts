/** A thread of one plugin: imports its module, takes tasks one at a time, answers each with what the plugin says. */
import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from "node:worker_threads";
import type { Block, ShiftContext, ShiftInput } from "@shiftwork/pipeline";
import type { PluginModule } from "./plugin-module.ts";

/** Which module the thread runs. */
export interface ThreadData {
  readonly url: string;
}

/** What is asked of the plugin; `load` is answered once its module is imported. */
export type PluginTask = { readonly type: "load" } | ShiftTask | InterceptTask;

export interface ShiftTask {
  readonly type: "shift";
  /** The place in the module's list. */
  readonly index: number;
  readonly input: ShiftInput;
  readonly contextLimit: number;
  /** Brings counts; `ready` is 1 once one is there. */
  readonly counts: MessagePort;
  readonly ready: Int32Array;
}

export interface InterceptTask {
  readonly type: "intercept";
  readonly index: number;
  readonly blocks: readonly Block[];
}

/** `abort`: nobody waits for the task any more, and the thread ends in a moment. */
export type HostMessage = PluginTask | { readonly type: "abort" };

export type ThreadMessage =
  | { readonly type: "count"; readonly block: Block }
  | { readonly type: "answer"; readonly answer: unknown }
  | { readonly type: "failed" };

const { url } = workerData as ThreadData;
const imported = import(/* @vite-ignore */ url) as Promise<{ readonly default: PluginModule }>;
let over = new AbortController();

parentPort?.on("message", (message: HostMessage) => {
  if (message.type === "abort") over.abort();
  else void answer(message);
});

async function answer(task: PluginTask): Promise<void> {
  const own = new AbortController();
  over = own;
  // A module that cannot be imported ends the thread, as it would end a process.
  const module = await imported;
  try {
    say({ type: "answer", answer: await askPlugin(module.default, task, own.signal) });
  } catch {
    say({ type: "failed" });
  } finally {
    own.abort();
    if (task.type === "shift") task.counts.close();
  }
}

function askPlugin({ strategies, interceptors }: PluginModule, task: PluginTask, signal: AbortSignal): unknown {
  switch (task.type) {
    case "load":
      return null;
    case "shift":
      return strategies?.[task.index]?.shift(task.input, contextOf(task, signal));
    case "intercept":
      return interceptors?.[task.index]?.intercept(task.blocks, signal);
  }
}

function contextOf({ contextLimit, counts, ready }: ShiftTask, signal: AbortSignal): ShiftContext {
  return {
    contextLimit,
    signal,
    count(block) {
      // What a strategy left running would wait here for ever, and the next task of this thread with it.
      signal.throwIfAborted();
      say({ type: "count", block });
      Atomics.wait(ready, 0, 0);
      Atomics.store(ready, 0, 0);
      return receiveMessageOnPort(counts)?.message as number;
    },
  };
}

function say(message: ThreadMessage): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port between threads has no origin
  parentPort?.postMessage(message);
}
