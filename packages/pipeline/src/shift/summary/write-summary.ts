import type { Block } from "../../block.ts";
import { canonicalJson, sha256Hex } from "../../hash.ts";
import { stripReasoning } from "../../reasoning.ts";
import { withinTime } from "../../within-time.ts";
import { wait, type Plan } from "../plan.ts";
import type { MeasuredBlock, ShiftContext } from "../strategy.ts";
import type { Summarise, Summariser, SummaryFacts } from "./summariser.ts";
import { summaryBlock } from "./summary-block.ts";
import { summaryPrompt, transcriptLines } from "./transcript.ts";

const DEFAULT_TIMEOUT_MS = 30_000;
/** Raised when prompt or transcript change, so that stored summaries are not taken for new ones. */
const PROMPT_VERSION = 1;

/** A written summary without its place in the prompt, or why there is none. */
export type Written =
  | { readonly ok: true; readonly facts: Omit<SummaryFacts, "covers"> }
  | { readonly ok: false; readonly code: "summary_failed" | "summary_timeout" | "summary_empty"; readonly why: string };

/**
 * Has the blocks summarised, or takes the stored summary over when its source is the same. A source longer than the
 * model's window is folded: part by part, each with the summary so far. Where no model may be called: a placeholder of
 * `maxTokens`. Throws the signal's reason after an abort.
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
  const windowTokens = summariser.contextLimit ?? context.contextLimit;
  const parts = yield* splitToFit(lines, windowTokens, maxTokens, context);
  if (parts === null) return { ok: false, code: "summary_failed", why: "the summariser's window is too small" };
  const asked = yield* wait(askInTime(parts, { ...summariser, summarise }, maxTokens, context));
  return asked.ok ? { ok: true, facts: { sourceHash, text: asked.text, calls: asked.calls, exact: true } } : asked;
}

/** Text that costs at least as much as the longest summary may. */
function* placeholder(tokens: number, context: ShiftContext): Plan<string> {
  const filled = (dots: number): string => `The summary is written when the turn is sent.${" …".repeat(dots)}`;
  let dots = 0;
  while (dots < 8 * tokens && (yield* wait(context.count(userBlock(filled(dots))))) < tokens) dots += 8;
  return filled(dots);
}

type Asked = { readonly ok: true; readonly text: string; readonly calls: number } | Extract<Written, { ok: false }>;

async function askInTime(
  parts: readonly (readonly string[])[],
  summariser: Summariser & { readonly summarise: Summarise },
  maxTokens: number,
  context: ShiftContext,
): Promise<Asked> {
  const timeoutMs = summariser.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  try {
    const outcome = await withinTime(
      (signal) => fold(parts, summariser.summarise, maxTokens, signal),
      timeoutMs,
      context,
    );
    if (outcome.timedOut) return { ok: false, code: "summary_timeout", why: `no answer within ${timeoutMs} ms` };
    if (outcome.value === "") return { ok: false, code: "summary_empty", why: "the model answered with no text" };
    return { ok: true, text: outcome.value, calls: parts.length };
  } catch {
    context.signal?.throwIfAborted();
    return { ok: false, code: "summary_failed", why: "the model did not answer" };
  }
}

/** `""` = a part came back empty: a summary without it would lose that part in silence. */
async function fold(
  parts: readonly (readonly string[])[],
  summarise: Summarise,
  maxTokens: number,
  signal: AbortSignal,
): Promise<string> {
  let summary: string | null = null;
  for (const part of parts) {
    signal.throwIfAborted();
    summary = stripReasoning(await summarise(summaryPrompt(part, summary), { maxTokens, signal })).trim();
    if (summary === "") return "";
  }
  return summary ?? "";
}

/** Parts whose prompt, with the longest summary so far and the reply, stays within the window; `null` = none can. */
function* splitToFit(
  lines: readonly string[],
  windowTokens: number,
  maxTokens: number,
  context: ShiftContext,
): Plan<readonly (readonly string[])[] | null> {
  const costOf = function* (part: readonly string[], earlier: string | null): Plan<number> {
    return yield* wait(context.count(userBlock(summaryPrompt(part, earlier))));
  };
  if ((yield* costOf(lines, null)) + maxTokens <= windowTokens) return [lines];
  // Reply and summary so far may each cost `maxTokens`; a twentieth is kept free for counts that differ from the model's.
  const space = Math.floor(windowTokens * 0.95) - 2 * maxTokens - (yield* costOf([], ""));
  if (space < maxTokens) return null;
  const parts: string[][] = [[]];
  let used = 0;
  for (const line of lines) {
    for (const piece of yield* piecesOf(line, space, context)) {
      const cost = yield* wait(context.count(userBlock(piece)));
      if (used + cost > space && used > 0) {
        parts.push([]);
        used = 0;
      }
      parts.at(-1)?.push(piece);
      used += cost;
    }
  }
  return parts;
}

/** A line longer than a whole part, in halves until each fits. */
function* piecesOf(line: string, space: number, context: ShiftContext): Plan<readonly string[]> {
  const cost = yield* wait(context.count(userBlock(line)));
  if (cost <= space || line.length < 2) return [line];
  const middle = wellFormedBorder(line, Math.floor(line.length / 2));
  const head = yield* piecesOf(line.slice(0, middle), space, context);
  return [...head, ...(yield* piecesOf(line.slice(middle), space, context))];
}

function wellFormedBorder(text: string, place: number): number {
  const space = text.lastIndexOf(" ", place);
  if (space > place / 2) return space;
  const code = text.charCodeAt(place);
  const splitsPair = code >= 0xdc00 && code <= 0xdfff;
  return splitsPair ? place + 1 : place;
}

function userBlock(content: string): Block {
  return { ...summaryBlock(content, [], []), role: "user" };
}
