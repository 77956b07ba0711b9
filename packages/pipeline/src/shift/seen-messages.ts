import { ownId, toBlock, type ContextMessage } from "./context-message.ts";
import type { Reading } from "./read-messages.ts";
import type { BuiltInStrategy, MeasuredBlock } from "./strategy.ts";
import type { Walked } from "./suffix-walk.ts";

/** Messages as a strategy sees them, and the way back. */
export interface Seen<M> {
  readonly blocks: readonly MeasuredBlock[];
  readonly messageOf: ReadonlyMap<string, M>;
  /** Indexes of history that leaves whatever the strategy does, oldest first. */
  readonly older: readonly number[];
  /** The same as blocks, where the strategy reads them. */
  readonly olderBlocks: readonly MeasuredBlock[];
  readonly groupIdOf: (index: number) => string | null;
}

/** Blocks for what may stay; of history that cannot, only what the strategy needs. */
export function blocksOf<M extends ContextMessage>(
  messages: readonly M[],
  reading: Reading,
  walked: Walked,
  needs: BuiltInStrategy["oldHistory"],
): Seen<M> {
  const blocks: MeasuredBlock[] = [];
  const older: number[] = [];
  const olderBlocks: MeasuredBlock[] = [];
  const messageOf = new Map<string, M>();
  const groupIdOf = groupIds(messages, reading);
  const measured = (message: M, index: number): MeasuredBlock => {
    const own = ownId(message);
    const id = own === null || messageOf.has(own) ? `#${index}` : own;
    messageOf.set(id, message);
    const isInput = index === reading.inputIndex;
    const isLocked = reading.isLocked(index) && !isInput && message.pinned !== true;
    const required = message.required === true || isLocked;
    const block = toBlock(message, { id, index, isInput, required, groupId: groupIdOf(index) });
    return { ...block, tokens: walked.tokens.get(index) ?? null };
  };
  messages.forEach((message, index) => {
    if (reading.broken.has(index)) return;
    if (!isTooOld(index, reading, walked)) blocks.push(measured(message, index));
    else {
      older.push(index);
      if (needs !== "ignored") olderBlocks.push(measured(message, index));
    }
  });
  return { blocks, messageOf, older, olderBlocks, groupIdOf };
}

function groupIds(messages: readonly ContextMessage[], { headOf }: Reading) {
  return (index: number): string | null => {
    const head = headOf.get(index);
    if (head === undefined) return messages[index]?.groupId ?? null;
    return `calls:${ownId(messages[head] ?? {}) ?? `#${head}`}`;
  };
}

function isTooOld(index: number, { isOrdinary, headOf }: Reading, { border, isLockedGroup }: Walked): boolean {
  const head = headOf.get(index);
  if (head !== undefined) return head < border && !isLockedGroup(head);
  return index < border && isOrdinary(index);
}
