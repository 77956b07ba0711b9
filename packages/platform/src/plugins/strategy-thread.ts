/** The thread of one strategy of third parties: imports its module, takes tasks, answers each with what `shift` says. */
import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from "node:worker_threads";
import type { Block, ShiftContext, ShiftInput } from "@shiftwork/pipeline";
import type { PluginModule } from "./plugin-module.ts";

/** Which strategy the thread runs: the module, and the place in its list. */
export interface ThreadData {
  readonly url: string;
  readonly index: number;
}

export interface ThreadTask {
  readonly input: ShiftInput;
  readonly contextLimit: number;
  /** Brings counts; `ready` is 1 once one is there. */
  readonly counts: MessagePort;
  readonly ready: Int32Array;
}

export type ThreadMessage =
  | { readonly type: "count"; readonly block: Block }
  | { readonly type: "answer"; readonly answer: unknown }
  | { readonly type: "failed" };

const { url, index } = workerData as ThreadData;
const imported = import(/* @vite-ignore */ url) as Promise<{ readonly default: PluginModule }>;

parentPort?.on("message", (task: ThreadTask) => void answer(task));

async function answer(task: ThreadTask): Promise<void> {
  const over = new AbortController();
  try {
    const strategy = (await imported).default.strategies?.[index];
    say({ type: "answer", answer: await strategy?.shift(task.input, contextOf(task, over.signal)) });
  } catch {
    say({ type: "failed" });
  } finally {
    over.abort();
    task.counts.close();
  }
}

function contextOf({ contextLimit, counts, ready }: ThreadTask, over: AbortSignal): ShiftContext {
  return {
    contextLimit,
    count(block) {
      // What a strategy left running would wait here for ever, and the next task of this thread with it.
      over.throwIfAborted();
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
