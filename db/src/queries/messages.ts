import type { Role, ToolCall } from "@shiftwork/pipeline";
import { sql } from "kysely";
import type { Tx } from "../transaction.ts";
import { bumpChatRevision } from "./chat-revision.ts";

export interface MessageRow {
  readonly id: string;
  readonly chatId: string;
  readonly branch: number;
  readonly seq: number;
  readonly variant: number;
  readonly active: boolean;
  readonly role: Role;
  readonly content: string;
  readonly name: string | null;
  readonly toolCalls: readonly ToolCall[];
  readonly toolCallId: string | null;
  readonly pinned: boolean;
  readonly hidden: boolean;
  readonly partial: boolean;
  readonly failed: boolean;
  readonly generationId: string | null;
  readonly meta: object;
  readonly createdAt: Date;
}

/** A message to append. `alternatives` are texts of the same position that were not chosen, with ids of their own. */
export interface NewMessage {
  readonly id: string;
  readonly role: Role;
  readonly content: string;
  readonly name: string | null;
  readonly toolCalls: readonly ToolCall[];
  readonly toolCallId: string | null;
  readonly pinned: boolean;
  readonly hidden: boolean;
  readonly meta: object;
  /** Variant number of `content`; 0 unless alternatives stand before it. */
  readonly variant: number;
  readonly alternatives: readonly { readonly id: string; readonly variant: number; readonly content: string }[];
  /** Null = now. */
  readonly createdAt: Date | null;
}

/** Rows per insert: PostgreSQL takes 65,535 parameters in one statement. */
const INSERT_ROWS = 2_000;

/** Appends to the main branch and counts the chat's revision up. Call under the chat's lock: it gives out positions. */
export async function appendMessages(
  tx: Tx,
  tenantId: string,
  chatId: string,
  messages: readonly NewMessage[],
): Promise<void> {
  if (messages.length === 0) return;
  const last = await tx
    .selectFrom("messages")
    .select(sql<number>`coalesce(max(seq), 0)`.as("seq"))
    .where("tenant_id", "=", tenantId)
    .where("chat_id", "=", chatId)
    .where("branch", "=", 0)
    .executeTakeFirstOrThrow();
  const rows = messages.flatMap((message, index) => rowsOf(tenantId, chatId, message, last.seq + 1 + index));
  for (let start = 0; start < rows.length; start += INSERT_ROWS) {
    await tx
      .insertInto("messages")
      .values(rows.slice(start, start + INSERT_ROWS))
      .execute();
  }
  await bumpChatRevision(tx, tenantId, chatId);
}

function rowsOf(tenantId: string, chatId: string, message: NewMessage, seq: number) {
  const shared = {
    tenant_id: tenantId,
    chat_id: chatId,
    seq,
    role: message.role,
    name: message.name,
    tool_call_id: message.toolCallId,
    hidden: message.hidden,
    created_at: message.createdAt ?? sql<Date>`now()`,
  };
  const chosen = {
    ...shared,
    id: message.id,
    variant: message.variant,
    active: true,
    content: message.content,
    tool_calls: [...message.toolCalls],
    pinned: message.pinned,
    meta: message.meta,
  };
  const others = message.alternatives.map((other) => ({
    ...shared,
    id: other.id,
    variant: other.variant,
    active: false,
    content: other.content,
    tool_calls: [],
    pinned: false,
    meta: {},
  }));
  return [chosen, ...others];
}

export async function findMessage(tx: Tx, tenantId: string, chatId: string, id: string): Promise<MessageRow | null> {
  return (await selectMessages(tx, tenantId, chatId).where("id", "=", id).executeTakeFirst()) ?? null;
}

export interface MessagePage {
  readonly limit: number;
  /** Last row of the page before. */
  readonly after: { readonly seq: number; readonly variant: number } | null;
  /** False = what the chat shows: active variants and the partial texts of failed runs. */
  readonly allVariants: boolean;
}

/** In the order of the chat. */
export async function listMessages(
  tx: Tx,
  tenantId: string,
  chatId: string,
  page: MessagePage,
): Promise<readonly MessageRow[]> {
  const { after } = page;
  return selectMessages(tx, tenantId, chatId)
    .$if(!page.allVariants, (query) => query.where((eb) => eb.or([eb("active", "=", true), eb("failed", "=", true)])))
    .$if(after !== null, (query) => query.where(sql<boolean>`(seq, variant) > (${after?.seq}, ${after?.variant})`))
    .orderBy("seq")
    .orderBy("variant")
    .limit(page.limit)
    .execute();
}

/** The last active messages of the main branch, newest first. */
export async function findLastMessages(
  tx: Tx,
  tenantId: string,
  chatId: string,
  count: number,
): Promise<readonly MessageRow[]> {
  return selectMessages(tx, tenantId, chatId).where("active", "=", true).orderBy("seq", "desc").limit(count).execute();
}

/**
 * Whether nothing but replies that did not complete stands behind the message: then another one can become its reply.
 */
export async function isLastInput(tx: Tx, tenantId: string, chatId: string, input: MessageRow): Promise<boolean> {
  const later = await selectMessages(tx, tenantId, chatId)
    .where((eb) =>
      eb.or([
        eb("seq", ">", input.seq + 1),
        eb.and([eb("seq", "=", input.seq + 1), eb.or([eb("role", "!=", "assistant"), eb("partial", "=", false)])]),
      ]),
    )
    .limit(1)
    .executeTakeFirst();
  return later === undefined;
}

function selectMessages(tx: Tx, tenantId: string, chatId: string) {
  return tx
    .selectFrom("messages")
    .select([
      "id",
      "chat_id as chatId",
      "branch",
      "seq",
      "variant",
      "active",
      "role",
      "content",
      "name",
      "tool_calls as toolCalls",
      "tool_call_id as toolCallId",
      "pinned",
      "hidden",
      "partial",
      "failed",
      "generation_id as generationId",
      "meta",
      "created_at as createdAt",
    ])
    .where("tenant_id", "=", tenantId)
    .where("chat_id", "=", chatId)
    .where("branch", "=", 0);
}
