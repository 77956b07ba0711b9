import { terms } from "../../memory/terms.ts";
import { stripReasoning } from "../../reasoning.ts";
import { clipText } from "../shorten-text.ts";
import type { MeasuredBlock } from "../strategy.ts";

/** Text beyond this is not searched for a message's best sentence. */
const READ_CHARACTERS = 4_000;
const LONGEST_SENTENCE = 200;
const LONGEST_ARGUMENTS = 80;
const SENTENCE_END = /(?<=[.!?…]["')\]]*)\s+|(?<=[。！？])|\n+/u;

/** A sentence that may stand for a message, with how much it tells. */
export interface Telling {
  readonly line: string;
  readonly score: number;
}

/**
 * The sentence of a message that tells most: many distinct words, those of `query` above all, numbers; long ones pay for
 * their length. Quoted, with its speaker. `null` when there is nothing to quote.
 */
export function bestSentence(block: MeasuredBlock, query: ReadonlySet<string>): Telling | null {
  const text = block.role === "assistant" ? stripReasoning(block.content) : block.content;
  const sentences = text
    .slice(0, READ_CHARACTERS)
    .split(SENTENCE_END)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");
  const [first, ...others] = sentences;
  if (first === undefined) return callsMade(block);
  let best = { sentence: first, score: tellingScore(first, query) };
  for (const sentence of others) {
    const score = tellingScore(sentence, query);
    if (score > best.score) best = { sentence, score };
  }
  return { line: `- ${speaker(block)}: "${clipText(best.sentence, LONGEST_SENTENCE)}"`, score: best.score };
}

function callsMade(block: MeasuredBlock): Telling | null {
  if (block.toolCalls.length === 0) return null;
  const calls = block.toolCalls.map((call) => `${call.name}(${clipText(call.arguments, LONGEST_ARGUMENTS)})`);
  return { line: `- ${speaker(block)} called ${clipText(calls.join(", "), LONGEST_SENTENCE)}`, score: 0 };
}

function speaker({ name, role }: MeasuredBlock): string {
  return name === null || name.trim() === "" ? role : clipText(name.trim(), LONGEST_ARGUMENTS);
}

function tellingScore(sentence: string, query: ReadonlySet<string>): number {
  const words = terms(sentence);
  let sum = 0;
  for (const word of new Set(words)) sum += 1 + (query.has(word) ? 2 : 0) + (/\p{N}/u.test(word) ? 0.5 : 0);
  return sum / Math.sqrt(8 + words.length);
}
