import type { TerminalStatus } from "@shiftwork/contracts";
import type { ToolCall } from "@shiftwork/pipeline";
import { sql } from "kysely";
import { uuidv7 } from "uuidv7";
import { sendAlong } from "../round-trips.ts";
import type { Tx } from "../transaction.ts";
import { branchPath, ownerOf } from "./branch-path.ts";
import { insertBranch, setActiveBranch } from "./chat-branches.ts";

/** Where a generation's reply belongs, as its row says. */
export interface ReplyPlace {
  readonly action: string;
  /** Null = the message it answers never entered the chat. */
  readonly inputMessageId: string | null;
  /** Null = the branch of the input. */
  readonly branch: number | null;
  /** The reply it stands beside; null = none stood behind the input when it was asked for. */
  readonly targetMessageId: string | null;
}

export interface Reply extends ReplyPlace {
  readonly tenantId: string;
  readonly generationId: string;
  readonly chatId: string;
  readonly status: TerminalStatus;
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
}

/**
 * Stores what was streamed, once; nothing streamed, nothing stored. It stands behind the message it answers, or beside its
 * target: as another variant, or, when it becomes the chosen one and something stands behind the target, on a branch forked
 * there. The chat goes on where the chosen reply stands. Returns the message id. Call under the chat's lock.
 */
export async function storeReply(tx: Tx, reply: Reply): Promise<string | null> {
  // Half a tool call would poison every later turn: calls are kept only of a run that completed.
  const toolCalls = reply.status === "completed" ? reply.toolCalls : [];
  if (reply.text.trim() === "" && toolCalls.length === 0) return null;
  const found = await findPosition(tx, reply);
  if (!found) return null;
  const active = becomesActive(reply, found);
  const position = active && found.followed ? await forkAt(tx, reply, found) : found;
  if (active && position.taken) await deactivateVariants(tx, reply, position);
  if (active && !position.isActiveBranch) await setActiveBranch(tx, reply.tenantId, reply.chatId, position.branch);
  const id = uuidv7();
  await sendAlong(
    tx,
    tx.insertInto("messages").values({
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
    }),
  );
  return id;
}

/**
 * A failed run's text is only shown. A cancelled one's is chosen where nothing else is: stopping a retry or a swipe must not
 * cost the reply that stood there. Who stops a regenerate has asked for another reply and read it; the old one is a select away.
 */
function becomesActive({ status, action }: Reply, { taken }: Position): boolean {
  switch (status) {
    case "completed":
      return true;
    case "cancelled":
      return !taken || action === "regenerate";
    case "failed":
      return false;
  }
}

interface Position {
  readonly branch: number;
  readonly seq: number;
  readonly variant: number;
  /** Another reply is the active one here. */
  readonly taken: boolean;
  /** Messages or branches stand behind this reply's target: another reply there would be put into their past. */
  readonly followed: boolean;
  /** The chat's active branch is this one; else a run that was stopped for this one has begun another. */
  readonly isActiveBranch: boolean;
  readonly speaker: string | null;
}

/** The target's own position; without one that behind the input, on the branch that was active when this run was accepted. */
async function findPosition(tx: Tx, reply: Reply): Promise<Position | null> {
  const { tenantId, chatId, branch, inputMessageId, targetMessageId } = reply;
  const { rows } = await sql<Position>`
    select place.branch, place.seq, place.branch = chats.active_branch as "isActiveBranch",
      (select coalesce(max(variant) + 1, 0) from messages
       where tenant_id = ${tenantId} and chat_id = ${chatId} and branch = place.branch and seq = place.seq) as variant,
      exists (select from messages
       where tenant_id = ${tenantId} and chat_id = ${chatId}
         and branch = place.branch and seq = place.seq and active) as taken,
      (target.id is not null and (
        exists (select from messages
         where tenant_id = ${tenantId} and chat_id = ${chatId}
           and branch = place.branch and seq > place.seq and active)
        or exists (select from chat_branches
         where tenant_id = ${tenantId} and chat_id = ${chatId}
           and parent_branch = place.branch and fork_seq >= place.seq)
      )) as followed,
      (select name from characters where tenant_id = ${tenantId} and id = chats.character_id) as speaker
    from chats
    join messages as input
      on input.tenant_id = ${tenantId} and input.chat_id = ${chatId} and input.id = ${inputMessageId}
    left join messages as target
      on target.tenant_id = ${tenantId} and target.chat_id = ${chatId} and target.id = ${targetMessageId}
    cross join lateral (select coalesce(${branch}::integer, input.branch) as branch) as asked
    cross join lateral (
      select coalesce(target.branch, asked.branch) as branch,
        coalesce(target.seq, 1 + greatest(input.seq, (
          select max(fork_seq) from chat_branches
          where tenant_id = ${tenantId} and chat_id = ${chatId} and asked.branch in (branch, parent_branch)
        ))) as seq
    ) as place
    where chats.tenant_id = ${tenantId} and chats.id = ${chatId}
  `.execute(tx);
  return rows[0] ?? null;
}

/** A branch that leaves the target's one right before it, and goes on with this reply. */
async function forkAt(tx: Tx, { tenantId, chatId }: Reply, target: Position): Promise<Position> {
  const path = await branchPath(tx, tenantId, chatId, target.branch);
  const forkSeq = target.seq - 1;
  const branch = await insertBranch(tx, tenantId, chatId, { parentBranch: ownerOf(path, forkSeq), forkSeq });
  return { ...target, branch, variant: 0, taken: false, followed: false, isActiveBranch: false };
}

async function deactivateVariants(tx: Tx, reply: Reply, position: Position): Promise<void> {
  await sendAlong(
    tx,
    tx
      .updateTable("messages")
      .set({ active: false })
      .where("tenant_id", "=", reply.tenantId)
      .where("chat_id", "=", reply.chatId)
      .where("branch", "=", position.branch)
      .where("seq", "=", position.seq)
      .where("active", "=", true),
  );
}
