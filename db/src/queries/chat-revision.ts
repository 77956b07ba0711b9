import { sql } from "kysely";
import { sendAlong } from "../round-trips.ts";
import type { Tx } from "../transaction.ts";

/** Locks the chat row for the rest of the transaction; false = there is no such chat. Always taken before generations. */
export async function lockChat(tx: Tx, tenantId: string, chatId: string): Promise<boolean> {
  const row = await tx
    .selectFrom("chats")
    .select("id")
    .where("tenant_id", "=", tenantId)
    .where("id", "=", chatId)
    .forUpdate()
    .executeTakeFirst();
  return row !== undefined;
}

/** Every change of a chat's messages goes with one; a preview names the revision it saw. */
export async function bumpChatRevision(tx: Tx, tenantId: string, chatId: string): Promise<void> {
  await sendAlong(
    tx,
    tx
      .updateTable("chats")
      .set({ revision: sql<number>`revision + 1`, updated_at: sql<Date>`now()` })
      .where("tenant_id", "=", tenantId)
      .where("id", "=", chatId),
  );
}
