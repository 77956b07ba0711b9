import { sql, type AliasedRawBuilder, type RawBuilder, type Selectable } from "kysely";
import type { Tables } from "../tables.ts";
import type { Tx } from "../transaction.ts";

/** Positions that a path takes from one branch, both ends included. */
export interface PathPart {
  readonly branch: number;
  readonly fromSeq: number;
  readonly toSeq: number;
}

/** Where the messages of a branch stand: its own part first, then its parent's up to the fork, back to branch 0. */
export interface BranchPath {
  readonly tenantId: string;
  readonly chatId: string;
  /** At least one; their positions do not overlap. */
  readonly parts: readonly PathPart[];
}

/** What a position is called in; the largest `integer` of PostgreSQL. */
const LAST_SEQ = 2_147_483_647;

/** The path of a branch; null = the chat has no such branch. Branch 0 is there without a row. */
export async function findBranchPath(
  tx: Tx,
  tenantId: string,
  chatId: string,
  branch: number,
): Promise<BranchPath | null> {
  const forks = branch === 0 ? [] : await findForks(tx, tenantId, chatId, branch);
  if (forks.length === 0 && branch !== 0) return null;
  return { tenantId, chatId, parts: partsOf(forks) };
}

/** As `findBranchPath`, for a branch that some row names. */
export async function branchPath(tx: Tx, tenantId: string, chatId: string, branch: number): Promise<BranchPath> {
  const path = await findBranchPath(tx, tenantId, chatId, branch);
  if (!path) throw new Error(`the chat has no branch ${branch}`);
  return path;
}

interface Fork {
  readonly branch: number;
  readonly forkSeq: number;
}

/** From the branch back to the one that forked from branch 0: a parent has the smaller number. */
async function findForks(tx: Tx, tenantId: string, chatId: string, branch: number): Promise<readonly Fork[]> {
  const { rows } = await sql<Fork>`
    with recursive line as (
      select branch, parent_branch, fork_seq from chat_branches
      where tenant_id = ${tenantId} and chat_id = ${chatId} and branch = ${branch}
      union all
      select parent.branch, parent.parent_branch, parent.fork_seq
      from line join chat_branches as parent on parent.branch = line.parent_branch
      where parent.tenant_id = ${tenantId} and parent.chat_id = ${chatId}
    )
    select branch, fork_seq as "forkSeq" from line order by branch desc
  `.execute(tx);
  return rows;
}

function partsOf(forks: readonly Fork[]): readonly PathPart[] {
  const ends = [LAST_SEQ, ...forks.map(({ forkSeq }) => forkSeq)];
  const starts = [...forks, { branch: 0, forkSeq: 0 }];
  return orNothing(
    starts.map(({ branch, forkSeq }, index) => ({ branch, fromSeq: forkSeq + 1, toSeq: ends[index] ?? LAST_SEQ })),
  );
}

/** A condition over no parts could not be written. */
function orNothing(parts: readonly PathPart[]): readonly PathPart[] {
  const filled = parts.filter(({ fromSeq, toSeq }) => fromSeq <= toSeq);
  return filled.length > 0 ? filled : [{ branch: 0, fromSeq: 1, toSeq: 0 }];
}

/** The part of a path between two positions, both included. */
export function sliceOfPath(path: BranchPath, slice: { readonly from?: number; readonly to?: number }): BranchPath {
  const { from = 1, to = LAST_SEQ } = slice;
  const parts = path.parts.map((part) => ({
    ...part,
    fromSeq: Math.max(part.fromSeq, from),
    toSeq: Math.min(part.toSeq, to),
  }));
  return { ...path, parts: orNothing(parts) };
}

export function isOnPath(
  { parts }: BranchPath,
  { branch, seq }: { readonly branch: number; readonly seq: number },
): boolean {
  return parts.some((part) => part.branch === branch && part.fromSeq <= seq && seq <= part.toSeq);
}

/** Which branch a position of the path stands on; before the first one it is branch 0. */
export function ownerOf({ parts }: BranchPath, seq: number): number {
  return parts.find((part) => part.fromSeq <= seq && seq <= part.toSeq)?.branch ?? 0;
}

/** Whether a row of `messages` stands on the path, whichever variant it is. */
export function onPath({ tenantId, chatId, parts }: BranchPath): RawBuilder<boolean> {
  const each = parts.map(
    ({ branch, fromSeq, toSeq }) => sql`messages.branch = ${branch} and messages.seq between ${fromSeq} and ${toSeq}`,
  );
  return sql<boolean>`
    messages.tenant_id = ${tenantId} and messages.chat_id = ${chatId} and (${sql.join(each, sql` or `)})
  `;
}

type MessageRows = AliasedRawBuilder<Selectable<Tables["messages"]>, "messages">;

/**
 * Rows of `messages` to read in an order: the first ones of every part, each part along its index and no further. Over
 * the parts together they still have to be sorted and limited.
 */
export function firstOfEachPart(
  path: BranchPath,
  first: { readonly where: RawBuilder<boolean>; readonly orderBy: RawBuilder<unknown>; readonly limit: number },
): MessageRows {
  const each = path.parts.map(
    (part) => sql`(
      select * from messages where ${onPath({ ...path, parts: [part] })} and ${first.where}
      order by ${first.orderBy} limit ${first.limit}
    )`,
  );
  return sql<Selectable<Tables["messages"]>>`(${sql.join(each, sql` union all `)})`.as("messages");
}
