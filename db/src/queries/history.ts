import {
  linkToolCalls,
  LONGEST_LISTED_RUN,
  type ChatMessage,
  type Conversation,
  type EarlierMessages,
  type HistoryWindow,
} from "@shiftwork/pipeline";
import { sql, type Selectable } from "kysely";
import type { Tables } from "../tables.ts";
import type { Tx } from "../transaction.ts";
import { branchPath, firstOfEachPart, onPath, sliceOfPath, type BranchPath } from "./branch-path.ts";

/** The part of a chat a prompt is made of. */
export interface HistoryQuery {
  readonly chatId: string;
  /** The last message of the part, on whichever branch; null = the whole active branch. */
  readonly inputMessageId: string | null;
  /** A message that is not stored, standing behind the last one. */
  readonly draft: Pick<ChatMessage, "content" | "name"> | null;
  /** How much of a long branch is needed; null = all of it. */
  readonly window: HistoryWindow | null;
}

type History = Pick<Conversation, "messages"> & { readonly earlier: readonly EarlierMessages[] };

/** Rows of one round trip; once the window was not enough, the next ones are larger. */
const FIRST_ROWS = 1_000;

/**
 * Loads the newest messages until they are enough, and of older ones those that may matter wherever they stand (pinned,
 * system, hidden, marked) with the rest of their tool groups; what remains comes as positions and counts. So the cost
 * follows what a prompt can hold, not the length of the chat.
 */
export async function loadHistory(
  tx: Tx,
  path: BranchPath,
  { draft: said, window }: Pick<HistoryQuery, "draft" | "window">,
  lorebooks: Conversation["lorebooks"],
): Promise<History> {
  const last = await findEndSeq(tx, path, "desc");
  const draft = said === null ? [] : [draftMessage(said, last)];
  if (window === null) {
    const all = await selectMessages(tx, path).orderBy("seq").execute();
    return { messages: [...all, ...draft], earlier: [] };
  }
  const newest = await loadNewest(tx, path, last, window.bytes, (messages) =>
    window.isEnough([...messages, ...draft], { lorebooks }),
  );
  const border = newest[0]?.seq ?? 0;
  const apart = await loadApart(tx, path, border);
  const grouped = await loadRestOfGroups(tx, path, border, [...apart, ...newest]);
  const older = [...apart, ...grouped].toSorted((a, b) => a.seq - b.seq);
  const earlier = await countRest(tx, path, border, older);
  const messages = [...older, ...newest, ...draft];
  return { messages, earlier };
}

/**
 * The path a prompt's history is read along. It ends at the message to answer, whatever became of the chat behind it;
 * without one it is the active branch. Throws when there is no such message, or another variant of it is chosen.
 */
export async function findHistoryPath(
  tx: Tx,
  tenantId: string,
  { id: chatId, activeBranch }: { readonly id: string; readonly activeBranch: number },
  inputMessageId: string | null,
): Promise<BranchPath> {
  if (inputMessageId === null) return branchPath(tx, tenantId, chatId, activeBranch);
  const input = await tx
    .selectFrom("messages")
    .select(["branch", "seq"])
    .where("tenant_id", "=", tenantId)
    .where("chat_id", "=", chatId)
    .where("id", "=", inputMessageId)
    .where("active", "=", true)
    .executeTakeFirst();
  // Answering nothing would send a prompt without the chat in it, and call that a turn.
  if (!input) throw new Error("the message to answer is not in the chat, or not the chosen variant");
  return sliceOfPath(await branchPath(tx, tenantId, chatId, input.branch), { to: input.seq });
}

const ACTIVE = sql<boolean>`active`;

/** The first or the last position of a path; 0 when nothing stands on it. */
async function findEndSeq(tx: Tx, path: BranchPath, order: "asc" | "desc"): Promise<number> {
  const row = await tx
    .selectFrom(firstOfEachPart(path, { where: ACTIVE, orderBy: sql`seq ${sql.raw(order)}`, limit: 1 }))
    .select("seq")
    .orderBy("seq", order)
    .limit(1)
    .executeTakeFirst();
  return row?.seq ?? 0;
}

/** Backwards, piece by piece, until it is enough; a short rest is not worth leaving behind. */
async function loadNewest(
  tx: Tx,
  path: BranchPath,
  last: number,
  windowBytes: number,
  isEnough: (newest: readonly ChatMessage[]) => boolean,
): Promise<readonly ChatMessage[]> {
  let newest: readonly ChatMessage[] = [];
  let piece = { rows: FIRST_ROWS, bytes: windowBytes };
  let [border, total] = [last + 1, 0];
  for (;;) {
    const rows = await loadRange(tx, path, border - 1, piece);
    const bytes = rows.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
    newest = [...rows, ...newest];
    if (rows.length < piece.rows && bytes < piece.bytes) return newest;
    border = rows[0]?.seq ?? border;
    total += bytes;
    if (total < windowBytes) continue;
    if (isEnough(newest)) break;
    piece = { rows: piece.rows * 4, bytes: piece.bytes * 4 };
  }
  const rest = await loadRange(tx, path, border - 1, { rows: LONGEST_LISTED_RUN + 1, bytes: windowBytes });
  const isShort = rest.length <= LONGEST_LISTED_RUN && (await findEndSeq(tx, path, "asc")) === (rest[0]?.seq ?? border);
  return isShort ? [...rest, ...newest] : newest;
}

/** The newest messages up to a position, oldest first: at most so many, and no more than reach the given bytes of text. */
async function loadRange(
  tx: Tx,
  path: BranchPath,
  upTo: number,
  { rows: limit, bytes }: { readonly rows: number; readonly bytes: number },
): Promise<ChatMessage[]> {
  const newest = firstOfEachPart(sliceOfPath(path, { to: upTo }), { where: ACTIVE, orderBy: sql`seq desc`, limit });
  const rows = await tx
    .selectFrom(
      sql<Selectable<Tables["messages"]>>`(
        select * from (
          select *, sum(octet_length(content)) over (order by seq desc) - octet_length(content) as bytes_behind
          from ${newest} order by seq desc limit ${limit}
        ) as summed where bytes_behind < ${bytes}
      )`.as("messages"),
    )
    .select(MESSAGE_COLUMNS)
    .orderBy("seq", "desc")
    .execute();
  return rows.reverse();
}

/** By the index of their own; the condition is the index's, word for word. System rows that may leave are ordinary. */
async function loadApart(tx: Tx, path: BranchPath, border: number): Promise<readonly ChatMessage[]> {
  return selectMessages(tx, path)
    .where("seq", "<", border)
    .where(sql<boolean>`(pinned or hidden or role = 'system' or meta ->> 'manualExcluded' = 'true')`)
    .where(sql<boolean>`(pinned or hidden or role <> 'system' or meta ->> 'manualExcluded' = 'true'
      or not coalesce((meta ->> 'optional')::boolean, false))`)
    .orderBy("seq")
    .execute();
}

/** Members before the border of the tool groups that something loaded belongs to: a group is never cut. */
async function loadRestOfGroups(
  tx: Tx,
  path: BranchPath,
  border: number,
  loaded: readonly ChatMessage[],
): Promise<readonly ChatMessage[]> {
  const links = linkToolCalls(loaded);
  const crosses = loaded.some(
    ({ seq, role, toolCalls }, index) =>
      links[index]?.broken === "orphan_tool_result" || (seq < border && (role === "tool" || toolCalls.length > 0)),
  );
  if (!crosses) return [];
  const known = new Set(loaded.map(({ seq }) => seq));
  const uses = (await selectToolUse(tx, path, border)).filter(({ seq }) => !known.has(seq));
  const all = [...uses, ...loaded].toSorted((a, b) => a.seq - b.seq);
  const heads = linkToolCalls(all).map(({ head }) => head);
  const needed = new Set(heads.filter((head, index) => head !== null && known.has(all[index]?.seq ?? 0)));
  const seqs = all
    .filter(({ seq }, index) => needed.has(heads[index] ?? null) && !known.has(seq))
    .map(({ seq }) => seq);
  if (seqs.length === 0) return [];
  return selectMessages(tx, path).where("seq", "in", seqs).execute();
}

/** What links calls and results, without the texts. */
function selectToolUse(tx: Tx, path: BranchPath, border: number) {
  return tx
    .selectFrom("messages")
    .select(["seq", "role", "tool_calls as toolCalls", "tool_call_id as toolCallId"])
    .where(onPath(path))
    .where(ACTIVE)
    .where(sql<boolean>`(tool_call_id is not null or tool_calls <> '[]'::jsonb)`)
    .where("seq", "<", border)
    .execute();
}

/** Counts what was not loaded, from one loaded message to the next. */
async function countRest(
  tx: Tx,
  path: BranchPath,
  border: number,
  loaded: readonly ChatMessage[],
): Promise<readonly EarlierMessages[]> {
  const seqs = loaded.map(({ seq }) => seq);
  const { rows } = await sql<EarlierMessages>`
    select min(seq) as "fromSeq", max(seq) as "toSeq", count(*)::int as count
    from messages
    where ${onPath(path)} and active and seq < ${border} and seq <> all(${seqs}::int[])
    group by width_bucket(seq, ${[0, ...seqs]}::int[])
    order by 1
  `.execute(tx);
  return rows;
}

const MESSAGE_COLUMNS = [
  "id",
  "seq",
  "role",
  "content",
  "name",
  "tool_calls as toolCalls",
  "tool_call_id as toolCallId",
  "pinned",
  "hidden",
  "failed as failedPartial",
  sql<boolean>`coalesce((meta->>'optional')::boolean, false)`.as("optional"),
  sql<boolean>`coalesce(meta ->> 'manualExcluded' = 'true', false)`.as("manualExcluded"),
] as const;

function selectMessages(tx: Tx, path: BranchPath) {
  return tx.selectFrom("messages").select(MESSAGE_COLUMNS).where(onPath(path)).where(ACTIVE);
}

/** A message that is not stored, as the user's behind position `lastSeq`. */
export function draftMessage(draft: Pick<ChatMessage, "content" | "name">, lastSeq: number): ChatMessage {
  return {
    id: null,
    seq: lastSeq + 1,
    role: "user",
    content: draft.content,
    name: draft.name,
    toolCalls: [],
    toolCallId: null,
    pinned: false,
    hidden: false,
    optional: false,
    failedPartial: false,
    manualExcluded: false,
  };
}
