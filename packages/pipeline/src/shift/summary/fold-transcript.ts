import type { PromptGauge } from "./prompt-gauge.ts";
import { summaryPrompt } from "./transcript.ts";

/** A summary of all lines and the calls it took, or why there is none. */
export type Folded =
  | { readonly ok: true; readonly text: string; readonly calls: number }
  | { readonly ok: false; readonly code: "summary_failed" | "summary_empty"; readonly why: string };

const TOO_SMALL: Folded = { ok: false, code: "summary_failed", why: "the summariser's window is too small" };
const NO_ANSWER: Folded = { ok: false, code: "summary_failed", why: "the model did not answer" };
// A summary without the part that came back empty would lose it in silence.
const EMPTY: Folded = { ok: false, code: "summary_empty", why: "the model answered with no text" };

/**
 * Asks for a summary of the lines in as many prompts as the window takes, each with the summary so far. No prompt costs
 * more than the gauge's limit, whatever came back before. `ask` answers `null` when the model did not.
 */
export async function foldTranscript(
  lines: readonly string[],
  gauge: PromptGauge,
  maxTokens: number,
  ask: (prompt: string) => Promise<string | null>,
): Promise<Folded> {
  const whole = summaryPrompt(lines, null);
  if ((await gauge.count(whole)) <= gauge.limitTokens) return afterAnswer(await ask(whole), 1);
  let rest = await cutToPieces(lines, gauge, maxTokens);
  let folded = TOO_SMALL;
  for (let calls = 1; rest.length > 0; calls += 1) {
    const earlier = folded.ok ? folded.text : null;
    const part = await nextPart(rest, earlier, gauge);
    if (part.length === 0) return TOO_SMALL;
    folded = afterAnswer(await ask(summaryPrompt(part.map(textOf), earlier)), calls);
    if (!folded.ok) return folded;
    rest = rest.slice(part.length);
  }
  return folded;
}

function afterAnswer(answer: string | null, calls: number): Folded {
  if (answer === null) return NO_ANSWER;
  return answer === "" ? EMPTY : { ok: true, text: answer, calls };
}

/** A line of the transcript, or part of a long one, with what it adds to a prompt. */
interface Piece {
  readonly text: string;
  readonly tokens: number;
}

const textOf = ({ text }: Piece): string => text;
const costOf = (pieces: readonly Piece[]): number => pieces.reduce((sum, { tokens }) => sum + tokens, 0);

/** The lines in pieces that each fit beside the longest summary so far; none when there is no room to speak of. */
async function cutToPieces(lines: readonly string[], gauge: PromptGauge, maxTokens: number): Promise<readonly Piece[]> {
  const space = gauge.limitTokens - maxTokens - (await gauge.count(summaryPrompt([], "")));
  if (space < maxTokens) return [];
  const frame = await gauge.count("");
  // One more for the line break.
  const measure = async (text: string): Promise<Piece> => ({ text, tokens: (await gauge.count(text)) - frame + 1 });
  const pieces: Piece[] = [];
  for (const line of lines) pieces.push(...(await halved(await measure(line), space, measure)));
  return pieces;
}

async function halved(
  piece: Piece,
  space: number,
  measure: (text: string) => Promise<Piece>,
): Promise<readonly Piece[]> {
  const { text, tokens } = piece;
  if (tokens <= space || text.length < 2) return [piece];
  const middle = wellFormedBorder(text, Math.floor(text.length / 2));
  const head = await halved(await measure(text.slice(0, middle)), space, measure);
  return [...head, ...(await halved(await measure(text.slice(middle)), space, measure))];
}

function wellFormedBorder(text: string, place: number): number {
  const space = text.lastIndexOf(" ", place);
  if (space > place / 2) return space;
  const code = text.charCodeAt(place);
  const splitsPair = code >= 0xdc00 && code <= 0xdfff;
  return splitsPair ? place + 1 : place;
}

/** As many pieces as fit with the summary so far: estimated by the pieces' sum, settled by the count of the whole. */
async function nextPart(rest: readonly Piece[], earlier: string | null, gauge: PromptGauge): Promise<readonly Piece[]> {
  let space = gauge.limitTokens - (await gauge.count(summaryPrompt([], earlier)));
  for (;;) {
    const part = firstWithin(rest, space);
    if (part.length === 0) return part;
    const excess = (await gauge.count(summaryPrompt(part.map(textOf), earlier))) - gauge.limitTokens;
    if (excess <= 0) return part;
    space = costOf(part) - excess;
  }
}

function firstWithin(pieces: readonly Piece[], space: number): readonly Piece[] {
  let [end, used] = [0, 0];
  for (const { tokens } of pieces) {
    used += tokens;
    if (used > space) break;
    end += 1;
  }
  return pieces.slice(0, end);
}
