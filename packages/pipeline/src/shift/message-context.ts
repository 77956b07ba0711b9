import type { Block } from "../block.ts";
import { isPlainText, withText, type ContextMessage, type SummaryMessage } from "./context-message.ts";
import type { Seen } from "./seen-messages.ts";
import type { CountTokens, ShiftOptions } from "./shift-options.ts";
import type { ShiftContext } from "./strategy.ts";
import type { Walked } from "./suffix-walk.ts";

/** What a strategy may ask, answered for the messages behind its blocks. */
export function contextOf<M extends ContextMessage>(
  host: { readonly countTokens: CountTokens<M>; readonly budget: number; readonly options: ShiftOptions<M> },
  { messageOf, blocks }: Seen<M>,
  walked: Walked,
): ShiftContext {
  const { countTokens, budget, options } = host;
  const { relevance } = options;
  const contentOf = new Map(blocks.map((block) => [block.id, block.content]));
  return {
    count(block) {
      const message = messageOf.get(block.id);
      if (message === undefined) return countTokens(asMessage(block) as ContextMessage as M);
      const isWhole = contentOf.get(block.id) === block.content;
      if (isWhole) return walked.tokens.get(block.seq ?? -1) ?? countTokens(message);
      // What is not text alone cannot be shortened: nothing is small enough for it.
      return isPlainText(message) ? countTokens(withText(message, block.content)) : Infinity;
    },
    contextLimit: options.contextLimit ?? budget,
    relevance: relevance && ((block) => relevanceOf(relevance, messageOf.get(block.id), block.id)),
    summariser: options.summariser,
    after: options.after,
    signal: options.signal,
  };
}

function relevanceOf<M>(
  relevance: NonNullable<ShiftOptions<M>["relevance"]>,
  message: M | undefined,
  id: string,
): number | null {
  if (typeof relevance !== "function") return relevance.get(id) ?? null;
  return message === undefined ? null : relevance(message);
}

/** A block that the host made, as a message. */
export function asMessage({ role, content, reasonDetail }: Block): SummaryMessage {
  const covers = (reasonDetail?.["covers"] ?? []) as readonly string[];
  const speaker = role === "tool" ? "system" : role;
  return { role: speaker, content, meta: { source: "summary", optional: true, covers } };
}
