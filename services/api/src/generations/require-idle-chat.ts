import { encodeId } from "@shiftwork/contracts";
import { findActiveGeneration, type Tx } from "@shiftwork/db";
import { HttpProblem } from "../errors.ts";

/**
 * Refuses when the chat has a queued or running generation: its reply stands behind the message it answers. Decide under
 * the chat row's lock.
 */
export async function requireIdleChat(tx: Tx, tenantId: string, chatId: string): Promise<void> {
  const active = await findActiveGeneration(tx, tenantId, chatId);
  if (!active) return;
  throw new HttpProblem("CHAT_BUSY", "The chat has an active generation; wait for it or cancel it.", {
    params: { generationId: encodeId("generation", active.id), status: active.status },
  });
}
