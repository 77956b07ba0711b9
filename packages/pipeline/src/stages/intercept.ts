import type { Block, LeftOutBlock } from "../block.ts";
import type { Interceptor } from "../prompt.ts";
import type { Diagnostic } from "../reasons.ts";
import type { Counter } from "../tokens/counter.ts";
import { isBlockList, reconcile } from "../intercept/reconcile.ts";
import { leaveOut } from "./shift.ts";
import { countBlock } from "./tokenize.ts";

/** What the interceptors left of the prompt, and what the host noticed. */
export interface InterceptResult {
  readonly blocks: readonly Block[];
  readonly leftOut: readonly LeftOutBlock[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Runs the interceptors by ascending priority, then id. After each the host takes back what a plugin must not touch. One
 * that throws or returns no list of blocks changes nothing (`plugin_failed`); an abort ends the stage.
 */
export async function intercept(
  input: {
    readonly blocks: readonly Block[];
    readonly interceptors: readonly Interceptor[];
    readonly counter: Counter;
  },
  signal: AbortSignal,
): Promise<InterceptResult> {
  const inOrder = input.interceptors.toSorted((a, b) => a.priority - b.priority || (a.id < b.id ? -1 : 1));
  let blocks = input.blocks;
  const leftOut: LeftOutBlock[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const interceptor of inOrder) {
    signal.throwIfAborted();
    const returned = await answerOf(interceptor, blocks, signal);
    if (returned === null) {
      diagnostics.push({ code: "plugin_failed", stage: "intercept", detail: { plugin: interceptor.id } });
      continue;
    }
    const result = reconcile(interceptor.id, blocks, returned);
    blocks = result.blocks;
    diagnostics.push(...result.diagnostics);
    for (const block of result.removed) {
      leftOut.push(leaveOut({ ...block, tokens: countBlock(input.counter, block) }, "intercept", "plugin_removed"));
    }
  }
  return { blocks, leftOut, diagnostics };
}

// A plugin gets copies: whatever it does to them, the host's blocks stay as they were.
async function answerOf(
  interceptor: Interceptor,
  blocks: readonly Block[],
  signal: AbortSignal,
): Promise<readonly Block[] | null> {
  try {
    const copies = blocks.map((block) => ({ ...block, toolCalls: block.toolCalls.map((call) => ({ ...call })) }));
    const returned: unknown = await untilAborted(Promise.resolve(interceptor.intercept(copies, signal)), signal);
    return isBlockList(returned) ? returned : null;
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(new Error("aborted"));
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
