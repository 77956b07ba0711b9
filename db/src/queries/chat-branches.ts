import { sql } from "kysely";
import type { Tx } from "../transaction.ts";

/** Where a new branch leaves its parent: `forkSeq` stands on the parent itself, or is 0. */
export interface BranchFork {
  readonly parentBranch: number;
  readonly forkSeq: number;
}

/** Forks a branch and returns its number. Call under the chat's lock: it gives out numbers. */
export async function insertBranch(tx: Tx, tenantId: string, chatId: string, fork: BranchFork): Promise<number> {
  const { rows } = await sql<{ branch: number }>`
    insert into chat_branches (tenant_id, chat_id, branch, parent_branch, fork_seq)
    select ${tenantId}, ${chatId}, coalesce(max(branch), 0) + 1, ${fork.parentBranch}, ${fork.forkSeq}
    from chat_branches where tenant_id = ${tenantId} and chat_id = ${chatId}
    returning branch
  `.execute(tx);
  const [row] = rows;
  if (!row) throw new Error("the branch was not stored");
  return row.branch;
}

/** Makes a branch the one the chat shows and sends. Call under the chat's lock, and count its revision up. */
export async function setActiveBranch(tx: Tx, tenantId: string, chatId: string, branch: number): Promise<void> {
  await tx
    .updateTable("chats")
    .set({ active_branch: branch })
    .where("tenant_id", "=", tenantId)
    .where("id", "=", chatId)
    .execute();
}

export interface BranchRow {
  readonly chatId: string;
  readonly branch: number;
  /** Null = branch 0. */
  readonly parentBranch: number | null;
  /** The last chosen message it shares with its parent; null = none. */
  readonly forkMessageId: string | null;
  /** Null = nothing stands on it. */
  readonly lastMessageId: string | null;
  /** Chosen messages from the chat's first to the branch's last. */
  readonly messageCount: number;
  readonly active: boolean;
  readonly createdAt: Date;
}

/** The branches of a chat by number, those after `after`; branch 0 is the first. */
export async function listBranches(
  tx: Tx,
  tenantId: string,
  chatId: string,
  page: { readonly limit: number; readonly after: number | null },
): Promise<readonly BranchRow[]> {
  const { rows } = await sql<BranchRow>`
    with recursive fork as (
      select 0 as branch, null::integer as parent_branch, 0 as fork_seq, created_at
      from chats where tenant_id = ${tenantId} and id = ${chatId}
      union all
      select branch, parent_branch, fork_seq, created_at
      from chat_branches where tenant_id = ${tenantId} and chat_id = ${chatId}
    ), listed as (
      select * from fork where branch > ${page.after ?? -1} order by branch limit ${page.limit}
    ), part as (
      select branch as of_branch, branch, parent_branch, fork_seq, 2147483647 as to_seq from listed
      union all
      select part.of_branch, fork.branch, fork.parent_branch, fork.fork_seq, part.fork_seq
      from part join fork on fork.branch = part.parent_branch
    ), last as (
      select part.of_branch, part.branch, message.id, message.seq
      from part cross join lateral (
        select id, seq from messages
        where tenant_id = ${tenantId} and chat_id = ${chatId}
          and branch = part.branch and seq > part.fork_seq and seq <= part.to_seq and active
        order by seq desc limit 1
      ) as message
    )
    select ${chatId}::uuid as "chatId", listed.branch, listed.parent_branch as "parentBranch",
      listed.created_at as "createdAt", listed.branch = chats.active_branch as active,
      (select id from last
       where last.of_branch = listed.branch and last.branch <> listed.branch
       order by seq desc limit 1) as "forkMessageId",
      (select id from last where last.of_branch = listed.branch order by seq desc limit 1) as "lastMessageId",
      (select count(*)::int from part join messages
         on tenant_id = ${tenantId} and chat_id = ${chatId} and messages.branch = part.branch
           and seq > part.fork_seq and seq <= part.to_seq and messages.active
       where part.of_branch = listed.branch) as "messageCount"
    from listed join chats on chats.tenant_id = ${tenantId} and chats.id = ${chatId}
    order by listed.branch
  `.execute(tx);
  return rows;
}
