import type { TerminalStatus } from "@shiftwork/contracts";
import type { ToolCall } from "@shiftwork/pipeline";
import { sql } from "kysely";
import { uuidv7 } from "uuidv7";
import type { Tx } from "../transaction.ts";

export interface Reply {
  readonly tenantId: string;
  readonly generationId: string;
  readonly chatId: string;
  readonly inputMessageId: string;
  readonly status: TerminalStatus;
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
}

/**
 * Stores what was streamed, once, behind the message it answers; nothing streamed, nothing stored. A completed reply
 * becomes the active variant of its position, a cancelled one's partial text only where none is active yet: stopping a
 * retry must not cost the reply that stood there. A failed one's text is only shown. Returns the message id.
 */
export async function storeReply(tx: Tx, reply: Reply): Promise<string | null> {
  // Half a tool call would poison every later turn: calls are kept only of a run that completed.
  const toolCalls = reply.status === "completed" ? reply.toolCalls : [];
  if (reply.text.trim() === "" && toolCalls.length === 0) return null;
  const position = await positionBehind(tx, reply);
  if (!position) return null;
  const active = reply.status === "completed" || (reply.status === "cancelled" && !position.taken);
  if (active && position.taken) await deactivateVariants(tx, reply, position);
  const id = uuidv7();
  await tx
    .insertInto("messages")
    .values({
      tenant_id: reply.tenantId,
      id,
      chat_id: reply.chatId,
      branch: position.branch,
      seq: position.seq,
      variant: position.variant,
      active,
      role: "assistant",
      content: reply.text,
      name: position.speaker,
      tool_calls: [...toolCalls],
      partial: reply.status !== "completed",
      failed: reply.status === "failed",
      generation_id: reply.generationId,
      meta: {},
    })
    .execute();
  return id;
}

interface Position {
  readonly branch: number;
  readonly seq: number;
  readonly variant: number;
  /** Another reply is the active one here. */
  readonly taken: boolean;
  readonly speaker: string | null;
}

async function positionBehind(tx: Tx, reply: Reply): Promise<Position | null> {
  const { rows } = await sql<Position>`
    select input.branch, input.seq + 1 as seq,
      (select coalesce(max(sibling.variant) + 1, 0) from messages as sibling
       where sibling.tenant_id = ${reply.tenantId} and sibling.chat_id = input.chat_id
         and sibling.branch = input.branch and sibling.seq = input.seq + 1) as variant,
      exists (select from messages as sibling
       where sibling.tenant_id = ${reply.tenantId} and sibling.chat_id = input.chat_id
         and sibling.branch = input.branch and sibling.seq = input.seq + 1 and sibling.active) as taken,
      (select name from characters join chats on chats.character_id = characters.id
       where chats.tenant_id = ${reply.tenantId} and characters.tenant_id = ${reply.tenantId}
         and chats.id = input.chat_id) as speaker
    from messages as input
    where input.tenant_id = ${reply.tenantId} and input.chat_id = ${reply.chatId} and input.id = ${reply.inputMessageId}
  `.execute(tx);
  return rows[0] ?? null;
}

async function deactivateVariants(tx: Tx, reply: Reply, position: Position): Promise<void> {
  await tx
    .updateTable("messages")
    .set({ active: false })
    .where("tenant_id", "=", reply.tenantId)
    .where("chat_id", "=", reply.chatId)
    .where("branch", "=", position.branch)
    .where("seq", "=", position.seq)
    .where("active", "=", true)
    .execute();
}
