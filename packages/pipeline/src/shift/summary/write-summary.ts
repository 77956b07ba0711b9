import { canonicalJson, sha256Hex } from "../../hash.ts";
import { stripReasoning } from "../../reasoning.ts";
import { withinTime } from "../../within-time.ts";
import { wait, type Plan } from "../plan.ts";
import type { MeasuredBlock, ShiftContext } from "../strategy.ts";
import { foldTranscript, type Folded } from "./fold-transcript.ts";
import { gaugeFor, userBlock } from "./prompt-gauge.ts";
import type { Summarise, Summariser, SummaryFacts } from "./summariser.ts";
import { transcriptLines } from "./transcript.ts";

const DEFAULT_TIMEOUT_MS = 30_000;
/** Raised when prompt or transcript change, so that stored summaries are not taken for new ones. */
const PROMPT_VERSION = 1;

/** A written summary without its place in the prompt, or why there is none. */
export type Written =
  | { readonly ok: true; readonly facts: Omit<SummaryFacts, "covers"> }
  | { readonly ok: false; readonly code: "summary_failed" | "summary_timeout" | "summary_empty"; readonly why: string };

/**
 * Has the blocks summarised, or takes the stored summary over when its source is the same. A source longer than the
 * model's window, as that model counts, is folded: part by part, each with the summary so far. Where no model may be
 * called: a placeholder of `maxTokens`. Throws the signal's reason after an abort.
 */
export function* writeSummary(
  blocks: readonly MeasuredBlock[],
  summariser: Summariser,
  maxTokens: number,
  context: ShiftContext,
): Plan<Written> {
  const lines = transcriptLines(blocks);
  const sourceHash = sha256Hex(canonicalJson(["summary", PROMPT_VERSION, summariser.id, maxTokens, lines]));
  const { stored = null, summarise } = summariser;
  if (stored?.sourceHash === sourceHash) {
    return { ok: true, facts: { sourceHash, text: stored.text, calls: 0, exact: true } };
  }
  if (summarise === null) {
    const text = yield* placeholder(maxTokens, context);
    return { ok: true, facts: { sourceHash, text, calls: 0, exact: false } };
  }
  const asked = yield* wait(askInTime(lines, { ...summariser, summarise }, maxTokens, context));
  return asked.ok ? { ok: true, facts: { sourceHash, text: asked.text, calls: asked.calls, exact: true } } : asked;
}

/** Text that costs at least as much as the longest summary may. */
function* placeholder(tokens: number, context: ShiftContext): Plan<string> {
  const filled = (dots: number): string => `The summary is written when the turn is sent.${" …".repeat(dots)}`;
  let dots = 0;
  while (dots < 8 * tokens && (yield* wait(context.count(userBlock(filled(dots))))) < tokens) dots += 8;
  return filled(dots);
}

async function askInTime(
  lines: readonly string[],
  summariser: Summariser & { readonly summarise: Summarise },
  maxTokens: number,
  context: ShiftContext,
): Promise<Folded | Extract<Written, { ok: false }>> {
  const { summarise, timeoutMs = DEFAULT_TIMEOUT_MS } = summariser;
  const gauge = gaugeFor(summariser, maxTokens, context);
  const outcome = await withinTime(
    (signal) => foldTranscript(lines, gauge, maxTokens, (prompt) => answerTo(prompt, summarise, maxTokens, signal)),
    timeoutMs,
    context,
  );
  context.signal?.throwIfAborted();
  return outcome.timedOut
    ? { ok: false, code: "summary_timeout", why: `no answer within ${timeoutMs} ms` }
    : outcome.value;
}

/** The model's text without its reasoning; `null` = it did not answer, or nobody waits any more. */
async function answerTo(
  prompt: string,
  summarise: Summarise,
  maxTokens: number,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    signal.throwIfAborted();
    return stripReasoning(await summarise(prompt, { maxTokens, signal })).trim();
  } catch {
    return null;
  }
}
