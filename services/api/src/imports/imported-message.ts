import type { NewMessage } from "@shiftwork/db";
import type { ImportedMessage } from "@shiftwork/formats";
import { uuidv7 } from "uuidv7";

/** A message of a chat file as it is stored: the chosen text is active, the other variants stand beside it. */
export function importedMessage(message: ImportedMessage): NewMessage {
  const { role, content, name, toolCalls, toolCallId, hidden, optional, source, createdAt, activeVariant } = message;
  const variants = message.variants.map((text, variant) => ({ id: uuidv7(), variant, content: text }));
  return {
    id: uuidv7(),
    role,
    content,
    name,
    toolCalls,
    toolCallId,
    hidden,
    pinned: false,
    meta: { source, ...(optional ? { optional } : {}) },
    variant: activeVariant,
    alternatives: variants.filter(({ variant }) => variant !== activeVariant),
    createdAt: createdAt === null ? null : new Date(createdAt),
  };
}
