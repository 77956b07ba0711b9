import { MessageChannel, type MessagePort } from "node:worker_threads";
import type { Block, ShiftContext, ShiftInput, Strategy, StrategyAnswer } from "@shiftwork/pipeline";
import type { PluginThreads } from "./plugin-threads.ts";

/** Stands in for a strategy of third parties, number `index` of its module: runs it in a thread of the module. */
export function strategyInThread(
  { id, priority, params }: Pick<Strategy, "id" | "priority" | "params">,
  index: number,
  threads: PluginThreads,
): Strategy {
  return {
    id,
    params,
    ...(priority === undefined ? {} : { priority }),
    async shift(input, context) {
      const { port1: counts, port2 } = new MessageChannel();
      const ready = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
      const { contextLimit, signal } = context;
      try {
        const answer = await threads.ask(
          { type: "shift", index, input: plainInput(input), contextLimit, counts: port2, ready },
          { signal, transfer: [port2], onCount: (block) => answerCount(block, context, counts, ready) },
        );
        return answer as StrategyAnswer;
      } finally {
        counts.close();
      }
    },
  };
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
