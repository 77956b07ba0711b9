import { encodeId } from "@shiftwork/contracts";
import { findActiveAnswering, findActiveGeneration, type GenerationInLine, type Tx } from "@shiftwork/db";
import { HttpProblem } from "../errors.ts";

/**
 * Refuses when the chat has a queued or running generation: its reply stands behind the message it answers, and a run that
 * loses its worker reads the chat once more. Decide under the chat row's lock.
 */
export async function requireIdleChat(tx: Tx, tenantId: string, chatId: string): Promise<void> {
  const active = await findActiveGeneration(tx, tenantId, chatId);
  if (active) throw chatBusy(active);
}

/** As `requireIdleChat`, but only when this message is being answered, or will be by a turn that waits. */
export async function requireNotBeingAnswered(
  tx: Tx,
  tenantId: string,
  message: { readonly id: string; readonly chatId: string },
): Promise<void> {
  const active = await findActiveAnswering(tx, tenantId, message);
  if (active) throw chatBusy(active);
}

export function chatBusy({ id, status }: GenerationInLine): HttpProblem {
  return new HttpProblem("CHAT_BUSY", "The chat has an active generation; wait for it or cancel it.", {
    params: { generationId: encodeId("generation", id), status },
  });
}
