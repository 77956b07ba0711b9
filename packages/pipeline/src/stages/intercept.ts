import type { Block, LeftOutBlock } from "../block.ts";
import type { After } from "../clock.ts";
import type { Interceptor } from "../prompt.ts";
import type { Diagnostic } from "../reasons.ts";
import type { Counter } from "../tokens/counter.ts";
import { isBlockList, reconcile } from "../intercept/reconcile.ts";
import { withinTime } from "../within-time.ts";
import { leaveOut } from "./shift.ts";
import { countBlock } from "./tokenize.ts";

/** How long a plugin may take. */
const PLUGIN_TIMEOUT_MS = 2_000;

/** What the interceptors left of the prompt, and what the host noticed. */
export interface InterceptResult {
  readonly blocks: readonly Block[];
  readonly leftOut: readonly LeftOutBlock[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Runs the interceptors by ascending priority, then id. After each the host takes back what a plugin must not touch. One
 * that throws or returns no list of blocks changes nothing (`plugin_failed`), nor does one that takes longer than two
 * seconds (`plugin_timeout`; needs the host's timer). An abort ends the stage.
 */
export async function intercept(
  input: {
    readonly blocks: readonly Block[];
    readonly interceptors: readonly Interceptor[];
    readonly counter: Counter;
    readonly after?: After | undefined;
  },
  signal: AbortSignal,
): Promise<InterceptResult> {
  const inOrder = input.interceptors.toSorted((a, b) => a.priority - b.priority || (a.id < b.id ? -1 : 1));
  let blocks = input.blocks;
  const leftOut: LeftOutBlock[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const interceptor of inOrder) {
    signal.throwIfAborted();
    const answer = await answerOf(interceptor, blocks, { after: input.after, signal });
    if (!answer.ok) {
      diagnostics.push({ code: answer.code, stage: "intercept", detail: { plugin: interceptor.id } });
      continue;
    }
    const result = reconcile(interceptor.id, blocks, answer.blocks);
    blocks = result.blocks;
    diagnostics.push(...result.diagnostics);
    for (const block of result.removed) {
      leftOut.push(leaveOut({ ...block, tokens: countBlock(input.counter, block) }, "intercept", "plugin_removed"));
    }
  }
  return { blocks, leftOut, diagnostics };
}

type Answer =
  | { readonly ok: true; readonly blocks: readonly Block[] }
  | { readonly ok: false; readonly code: "plugin_failed" | "plugin_timeout" };

// A plugin gets copies: whatever it does to them, the host's blocks stay as they were.
async function answerOf(
  interceptor: Interceptor,
  blocks: readonly Block[],
  host: { readonly after: After | undefined; readonly signal: AbortSignal },
): Promise<Answer> {
  try {
    const copies = blocks.map((block) => ({ ...block, toolCalls: block.toolCalls.map((call) => ({ ...call })) }));
    const timed = await withinTime<unknown>((signal) => interceptor.intercept(copies, signal), PLUGIN_TIMEOUT_MS, host);
    if (timed.timedOut) return { ok: false, code: "plugin_timeout" };
    return isBlockList(timed.value) ? { ok: true, blocks: timed.value } : { ok: false, code: "plugin_failed" };
  } catch {
    host.signal.throwIfAborted();
    return { ok: false, code: "plugin_failed" };
  }
}
