import type { Role, ToolCall } from "@shiftwork/pipeline";
import { sql } from "kysely";
import type { Tx } from "../transaction.ts";
import { firstOfEachPart, isOnPath, onPath, sliceOfPath, type BranchPath } from "./branch-path.ts";
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

/** Appends to the active branch and counts the chat's revision up. Call under the chat's lock: it gives out positions. */
export async function appendMessages(
  tx: Tx,
  tenantId: string,
  chatId: string,
  messages: readonly NewMessage[],
): Promise<void> {
  if (messages.length === 0) return;
  const end = await findEnd(tx, tenantId, chatId);
  const rows = messages.flatMap((message, index) => rowsOf(tenantId, chatId, message, end, end.seq + 1 + index));
  for (let start = 0; start < rows.length; start += INSERT_ROWS) {
    await tx
      .insertInto("messages")
      .values(rows.slice(start, start + INSERT_ROWS))
      .execute();
  }
  await bumpChatRevision(tx, tenantId, chatId);
}

/**
 * The last position of the active branch that is taken. One that another branch forks behind stays taken when its messages
 * are deleted: a new one there would enter that branch's past.
 */
async function findEnd(tx: Tx, tenantId: string, chatId: string): Promise<{ branch: number; seq: number }> {
  const { rows } = await sql<{ branch: number; seq: number }>`
    select active_branch as branch, coalesce(greatest(
      (select max(seq) from messages
       where tenant_id = ${tenantId} and chat_id = ${chatId} and branch = active_branch),
      (select max(fork_seq) from chat_branches
       where tenant_id = ${tenantId} and chat_id = ${chatId} and active_branch in (branch, parent_branch))
    ), 0) as seq
    from chats where tenant_id = ${tenantId} and id = ${chatId}
  `.execute(tx);
  const [end] = rows;
  if (!end) throw new Error("there is no such chat to append to");
  return end;
}

function rowsOf(tenantId: string, chatId: string, message: NewMessage, { branch }: { branch: number }, seq: number) {
  const shared = {
    tenant_id: tenantId,
    chat_id: chatId,
    branch,
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

/** On whichever branch it stands. */
export async function findMessage(tx: Tx, tenantId: string, chatId: string, id: string): Promise<MessageRow | null> {
  const row = await tx
    .selectFrom("messages")
    .select(MESSAGE_COLUMNS)
    .where("tenant_id", "=", tenantId)
    .where("chat_id", "=", chatId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row ?? null;
}

export interface MessagePage {
  readonly limit: number;
  /** Last row of the page before. */
  readonly after: { readonly seq: number; readonly variant: number } | null;
  /** False = what the chat shows: active variants and the partial texts of failed runs. */
  readonly allVariants: boolean;
}

/** The messages of a path, in the order of the chat. */
export async function listMessages(tx: Tx, path: BranchPath, page: MessagePage): Promise<readonly MessageRow[]> {
  const { limit, after, allVariants } = page;
  const shown = allVariants ? sql<boolean>`true` : sql<boolean>`(active or failed)`;
  const behind = after === null ? sql<boolean>`true` : sql<boolean>`(seq, variant) > (${after.seq}, ${after.variant})`;
  const rest = sliceOfPath(path, { from: after?.seq ?? 1 });
  const where = sql<boolean>`${shown} and ${behind}`;
  return tx
    .selectFrom(firstOfEachPart(rest, { where, orderBy: sql`seq, variant`, limit }))
    .select(MESSAGE_COLUMNS)
    .orderBy("seq")
    .orderBy("variant")
    .limit(limit)
    .execute();
}

/** Which of a path's chosen messages to look at. */
export interface LastMessages {
  readonly count: number;
  /** Default: all roles. */
  readonly role?: Role;
  /** True = without those that are never sent. Default false. */
  readonly sentOnly?: boolean;
}

/** The last chosen messages of a path, newest first. */
export async function findLastMessages(
  tx: Tx,
  path: BranchPath,
  { count, role, sentOnly = false }: LastMessages,
): Promise<readonly MessageRow[]> {
  const ofRole = role === undefined ? sql<boolean>`true` : sql<boolean>`role = ${role}`;
  const where = sql<boolean>`active and ${ofRole} and not (hidden and ${sentOnly}::boolean)`;
  return tx
    .selectFrom(firstOfEachPart(path, { where, orderBy: sql`seq desc`, limit: count }))
    .select(MESSAGE_COLUMNS)
    .orderBy("seq", "desc")
    .limit(count)
    .execute();
}

/**
 * Whether the message stands on the path and nothing but replies that did not complete stands behind it: then another one
 * can become its reply.
 */
export async function isLastInput(tx: Tx, path: BranchPath, input: MessageRow): Promise<boolean> {
  if (!isOnPath(path, input)) return false;
  const later = await tx
    .selectFrom("messages")
    .select("id")
    .where(onPath(sliceOfPath(path, { from: input.seq + 1 })))
    .where((eb) => eb.or([eb("role", "!=", "assistant"), eb("partial", "=", false)]))
    .limit(1)
    .executeTakeFirst();
  return later === undefined;
}

const MESSAGE_COLUMNS = [
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
] as const;
