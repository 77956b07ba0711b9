import type { Block, Interceptor } from "@shiftwork/pipeline";
import type { PluginThreads } from "./plugin-threads.ts";

/**
 * Stands in for an interceptor of third parties, number `index` of its module: runs it in a thread of the module. The
 * answer is what the thread said; the stage checks it.
 */
export function interceptorInThread(
  { id, priority }: Pick<Interceptor, "id" | "priority">,
  index: number,
  threads: PluginThreads,
): Interceptor {
  return {
    id,
    priority,
    intercept: async (blocks, signal) =>
      (await threads.ask({ type: "intercept", index, blocks }, { signal })) as readonly Block[],
  };
}
