import { terms } from "../../memory/terms.ts";
import type { CountedBlock } from "../../block.ts";
import { wait, type Plan } from "../plan.ts";
import type { MeasuredBlock, ShiftContext } from "../strategy.ts";
import { bestSentence } from "./sentences.ts";
import { summaryBlock } from "./summary-block.ts";

/** No line costs less: dash, speaker, colon, quotes, a word. */
const SMALLEST_LINE_TOKENS = 6;

/** What an extractive summary is made of. */
export interface ExtractiveSource {
  /** Groups that left, oldest first. */
  readonly groups: readonly (readonly MeasuredBlock[])[];
  /** Lines of earlier summaries, carried on. */
  readonly carried: readonly string[];
  readonly covers: readonly string[];
  /** What is asked now; its words make a sentence tell more. */
  readonly query: string;
  /** The blocks the summary will stand among. */
  readonly beside: readonly MeasuredBlock[];
}

/**
 * A summary of quoted sentences that costs at most `capTokens`, wrapping included: one of every message while the cap
 * lasts, else one of each group at even distance. `null` when not one line fits.
 */
export function* extractiveSummary(
  source: ExtractiveSource,
  capTokens: number,
  context: Pick<ShiftContext, "count">,
): Plan<CountedBlock | null> {
  const query = new Set(terms(source.query));
  const messages = source.groups.reduce((sum, group) => sum + group.length, source.carried.length);
  if (messages * SMALLEST_LINE_TOKENS <= capTokens) {
    const every = source.groups.flat().map((block) => bestSentence(block, query)?.line ?? null);
    const block = yield* counted(source, [...source.carried, ...every], context);
    if (block !== null && block.tokens <= capTokens) return block;
  }
  return yield* atEvenDistance(source, query, capTokens, context);
}

function* atEvenDistance(
  source: ExtractiveSource,
  query: ReadonlySet<string>,
  capTokens: number,
  context: Pick<ShiftContext, "count">,
): Plan<CountedBlock | null> {
  const units = [...source.carried, ...source.groups];
  const known = new Map<number, string | null>();
  const lineOf = (index: number): string | null => {
    const line = known.get(index) ?? groupLine(units[index] ?? [], query);
    known.set(index, line);
    return line;
  };
  let best: CountedBlock | null = null;
  let least = 1;
  let most = Math.min(units.length, Math.floor(capTokens / SMALLEST_LINE_TOKENS));
  while (least <= most) {
    const lines = Math.floor((least + most + 1) / 2);
    const block = yield* counted(source, evenly(units.length, lines).map(lineOf), context);
    if (block !== null && block.tokens <= capTokens) {
      best = block;
      least = lines + 1;
    } else most = lines - 1;
  }
  return best;
}

function groupLine(unit: string | readonly MeasuredBlock[], query: ReadonlySet<string>): string | null {
  if (typeof unit === "string") return unit;
  const tellings = unit.map((block) => bestSentence(block, query)).filter((telling) => telling !== null);
  return tellings.toSorted((a, b) => b.score - a.score)[0]?.line ?? null;
}

/** `count` of the indexes 0…length − 1, spread evenly, both ends included. */
function evenly(length: number, count: number): readonly number[] {
  if (count === 1) return [length - 1];
  return Array.from({ length: count }, (_, index) => Math.round((index * (length - 1)) / (count - 1)));
}

function* counted(
  { covers, beside }: ExtractiveSource,
  lines: readonly (string | null)[],
  context: Pick<ShiftContext, "count">,
): Plan<CountedBlock | null> {
  const quoted = lines.filter((line) => line !== null);
  if (quoted.length === 0) return null;
  const block = summaryBlock([heading(covers.length), ...quoted].join("\n"), covers, beside);
  return { ...block, tokens: yield* wait(context.count(block)) };
}

function heading(count: number): string {
  return `Earlier in this conversation (${count} ${count === 1 ? "message" : "messages"}, quoted in part):`;
}

/** The lines of an earlier summary, to be carried into the next. */
export function carriedLines(content: string): readonly string[] {
  const lines = content.split("\n").map((line) => line.trim());
  const quoted = lines.filter((line) => line.startsWith("- "));
  return quoted.length > 0 ? quoted : lines.filter((line) => line !== "").map((line) => `- ${line}`);
}
