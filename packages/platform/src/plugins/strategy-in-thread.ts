import { fileURLToPath } from "node:url";
import { MessageChannel, Worker, type MessagePort } from "node:worker_threads";
import type { Block, ShiftContext, ShiftInput, Strategy, StrategyAnswer } from "@shiftwork/pipeline";
import type { ThreadData, ThreadMessage, ThreadTask } from "./strategy-thread.ts";

/** A little more than a strategy may take: the host's own timer then says what happened, and the thread ends anyway. */
const END_AFTER_MS = 2_050;
/** Threads kept for the next call; under load more are started and ended again. */
const MOST_IDLE = 2;

/**
 * Stands in for a strategy of third parties: runs it in a thread, so that code that does not come back holds nothing up.
 * The thread is ended when time is over or the signal aborts, and used again otherwise.
 */
export function strategyInThread(
  { id, priority, params }: Pick<Strategy, "id" | "priority" | "params">,
  source: ThreadData,
): Strategy {
  const idle: Worker[] = [];
  return {
    id,
    params,
    ...(priority === undefined ? {} : { priority }),
    async shift(input, context) {
      const thread = takeIdle(idle) ?? startThread(source);
      const answer = await askThread(thread, input, context);
      if (idle.length < MOST_IDLE) idle.push(thread);
      else void thread.terminate();
      return answer;
    },
  };
}

/** One that ended has no id any more; its exit may be known before its answer is, so it is looked at here. */
function takeIdle(idle: Worker[]): Worker | undefined {
  let thread = idle.pop();
  while (thread?.threadId === -1) thread = idle.pop();
  return thread;
}

function startThread(source: ThreadData): Worker {
  const thread = new Worker(threadFile(), { workerData: source });
  // One that waits for work does not keep the process alive, and one that ends then is not taken again.
  thread.unref();
  thread.on("error", () => undefined);
  return thread;
}

/** The built file, also when this runs from source: `../..` is the package from `src/plugins` and `dist/plugins`. */
function threadFile(): string {
  return fileURLToPath(new URL("../../dist/plugins/strategy-thread.js", import.meta.url));
}

/** Ends the thread unless it answers. Rejects with the signal's reason, or with what went wrong. */
async function askThread(thread: Worker, input: ShiftInput, context: ShiftContext): Promise<StrategyAnswer> {
  const { port1: counts, port2 } = new MessageChannel();
  const ready = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  let cleanUp = (): void => {};
  const answered = new Promise<StrategyAnswer>((resolve, reject) => {
    const onMessage = (message: ThreadMessage): void => {
      if (message.type === "count") void answerCount(message.block, context, counts, ready).catch(reject);
      else if (message.type === "answer") resolve(message.answer as StrategyAnswer);
      else reject(new Error("the strategy threw"));
    };
    const onEnd = (): void => reject(new Error("the strategy's thread ended"));
    const onAbort = (): void => reject(context.signal?.reason as Error);
    const timer = setTimeout(() => reject(new Error("the strategy took too long")), END_AFTER_MS);
    thread.on("message", onMessage).on("error", onEnd).on("exit", onEnd);
    context.signal?.addEventListener("abort", onAbort, { once: true });
    cleanUp = () => {
      clearTimeout(timer);
      thread.off("message", onMessage).off("error", onEnd).off("exit", onEnd);
      context.signal?.removeEventListener("abort", onAbort);
      counts.close();
    };
  });
  try {
    const task: ThreadTask = { input: plainInput(input), contextLimit: context.contextLimit, counts: port2, ready };
    thread.postMessage(task, [port2]);
    return await answered;
  } catch (error) {
    void thread.terminate();
    throw error;
  } finally {
    cleanUp();
  }
}

/** The thread waits for the count and cannot go on before: a strategy may count without being asynchronous. */
async function answerCount(block: Block, context: ShiftContext, counts: MessagePort, ready: Int32Array): Promise<void> {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port between threads has no origin
  counts.postMessage(await context.count(block));
  Atomics.store(ready, 0, 1);
  Atomics.notify(ready, 0);
}

/** What a strategy is promised and no more: a host's input may carry functions, which no thread can be given. */
function plainInput(input: ShiftInput): ShiftInput {
  const { blocks, older = [], budgetTokens, overheadTokens, strategyOptions, tieRanks } = input;
  const { lowWater = null, anchorId = null } = input;
  return { blocks, older, budgetTokens, overheadTokens, strategyOptions, tieRanks, lowWater, anchorId };
}
