import type { CountedBlock } from "../block.ts";
import { sourceOf, withText, type ContextMessage } from "./context-message.ts";
import type { ExcludedReason } from "../reasons.ts";
import { asMessage } from "./message-context.ts";
import type { Reading } from "./read-messages.ts";
import type { Seen } from "./seen-messages.ts";
import type { ShiftOutcome } from "./shift-options.ts";
import type { ShiftedOut, ShiftResult } from "./strategy.ts";

/** A kept block as the message that goes out. */
export function finalMessage<M extends ContextMessage>(block: CountedBlock, messageOf: ReadonlyMap<string, M>): M {
  const message = messageOf.get(block.id);
  if (message === undefined) return asMessage(block) as ContextMessage as M;
  return block.originalTokens === undefined ? message : withText(message, block.content);
}

/** The result of a strategy in the caller's own messages. */
export function outcomeOf<M extends ContextMessage>(
  messages: readonly M[],
  reading: Reading,
  seen: Seen<M>,
  result: ShiftResult,
): ShiftOutcome<M> {
  const { messageOf } = seen;
  const asBlocks = messages.some((message) => message.source !== undefined && sourceOf(message) !== null);
  const finals = new Map(
    result.kept.map((block) => {
      const message = finalMessage(block, messageOf);
      return [block.id, messageOf.has(block.id) || !asBlocks ? message : { ...block, ...message }] as const;
    }),
  );
  const tokensOf = new Map(seen.blocks.map((block) => [block.id, block.tokens]));
  const shortened = result.kept.filter((block) => block.originalTokens !== undefined && messageOf.has(block.id));
  return {
    kept: [...finals.values()],
    excluded: excludedOf(messages, reading, seen, result),
    truncated: shortened.map((block) => ({
      message: messageOf.get(block.id) as M,
      replacement: finals.get(block.id) as M,
      originalTokens: tokensOf.get(block.id) ?? block.originalTokens ?? block.tokens,
      tokens: block.tokens,
    })),
  };
}

type Excluded<M> = ShiftOutcome<M>["excluded"][number];

/** What cannot be sent, then in leaving order; old history leaves ahead of what the strategy took from the rest of it. */
function excludedOf<M>(
  messages: readonly M[],
  { broken }: Reading,
  { messageOf, older, olderBlocks, groupIdOf }: Seen<M>,
  { excluded, summary }: ShiftResult,
): readonly Excluded<M>[] {
  const entries: Excluded<M>[] = [];
  const push = (index: number, reason: ExcludedReason): void => {
    entries.push({ message: messages[index] as M, reason, groupId: groupIdOf(index) });
  };
  const pushAll = (outs: readonly ShiftedOut[]): void => {
    for (const { block, reason } of outs) if (messageOf.has(block.id)) push(block.seq ?? -1, reason);
  };
  for (const [index, reason] of broken) push(index, reason);
  const isHistory = ({ block, reason }: ShiftedOut): boolean =>
    block.source === "history" && reason !== "manual_excluded";
  const first = excluded.findIndex(isHistory);
  const ahead = first === -1 ? excluded.length : first;
  pushAll(excluded.slice(0, ahead));
  const covered = new Set(summary?.covers);
  older.forEach((index, at) => push(index, covered.has(olderBlocks[at]?.id ?? "") ? "summarized" : "shift_oldest"));
  pushAll(excluded.slice(ahead));
  return entries;
}
