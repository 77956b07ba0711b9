import * as fc from "fast-check";
import type { ContextMessage } from "../shift/context-message.ts";

/** A plain message with its cost. */
export interface TokMessage extends ContextMessage {
  readonly id: string;
  readonly role: string;
  readonly content: string;
  readonly tok: number;
  /** The text that `tok` was counted for. */
  readonly original: string;
}

/** The stored cost; what the host made new costs a token for every four characters, and four for the frame. */
export function costOf(message: ContextMessage & { readonly tok?: number; readonly original?: string }): number {
  const { content, tok } = message;
  const text = typeof content === "string" ? content : "";
  return tok !== undefined && message.original === text ? tok : 4 + Math.ceil(text.length / 4);
}

const WORDS = "the tide took three lamps before dawn and Mira counted 42 bells; nobody answered.".split(" ");
const rarely = fc.integer({ min: 0, max: 14 }).map((roll) => roll === 0);
const callIds = fc.uniqueArray(fc.constantFrom("c0", "c1", "c2", "c3"), { minLength: 1, maxLength: 3 });

interface Row {
  readonly kind: string;
  readonly words: number;
  readonly ids: readonly string[];
  readonly pinned: boolean;
  readonly optional: boolean;
  readonly manualExcluded: boolean;
}

const rows: fc.Arbitrary<Row> = fc.record({
  kind: fc.constantFrom("user", "user", "assistant", "assistant", "batch", "interleaved", "calls", "result", "system"),
  words: fc.integer({ min: 1, max: 120 }),
  ids: callIds,
  pinned: rarely,
  optional: fc.integer({ min: 0, max: 4 }).map((roll) => roll > 0),
  manualExcluded: rarely,
});

/**
 * Histories as agents and imports leave them: parallel, interleaved, unanswered and surplus calls, pins, system rows,
 * marks. Costs follow the text, as every counter's do.
 */
export const histories: fc.Arbitrary<readonly TokMessage[]> = fc
  .array(rows, { maxLength: 40, size: "large" })
  .map((given) => given.flatMap(toMessages).map((message, index) => ({ ...message, id: `m${index}` })));

/** A share of what the history costs; a little of it is more than that. */
export const shares = fc.double({ min: 0.05, max: 1.1, noNaN: true });

/** The budget that is `share` of what the messages cost. */
export function budgetOf(messages: readonly TokMessage[], share: number): number {
  return Math.floor(share * messages.reduce((sum, { tok }) => sum + tok, 0));
}

function toMessages(row: Row, index: number): readonly TokMessage[] {
  const text = (at: number): TokMessage => toMessage(row, index + at);
  const results = row.ids.map((id, at) => ({ ...text(at + 1), role: "tool", pinned: false, tool_call_id: id }));
  const calls = {
    ...text(0),
    role: "assistant",
    tool_calls: row.ids.map((id) => ({ id, type: "function", function: { name: "lookup", arguments: "{}" } })),
  };
  switch (row.kind) {
    case "batch":
      return [calls, ...results];
    case "interleaved":
      return [calls, { ...text(9), role: "assistant", pinned: false }, ...results];
    case "calls":
      return [calls];
    case "result":
      return results.slice(0, 1);
    default:
      return [{ ...text(0), role: row.kind }];
  }
}

function toMessage({ words, pinned, optional, manualExcluded }: Row, index: number): TokMessage {
  const content = Array.from({ length: words }, (_, at) => WORDS[(at * (1 + (index % 3)) + index) % WORDS.length]).join(
    " ",
  );
  const tok = 4 + Math.ceil(content.length / 4);
  return { id: "", role: "user", content, tok, original: content, pinned, meta: { optional, manualExcluded } };
}
