import {
  linkToolCalls,
  LONGEST_LISTED_RUN,
  type ChatMessage,
  type Conversation,
  type EarlierMessages,
  type HistoryWindow,
} from "@shiftwork/pipeline";
import { sql, type RawBuilder } from "kysely";
import type { Tx } from "../transaction.ts";

/** The part of a branch a prompt is made of. */
export interface HistoryQuery {
  readonly chatId: string;
  /** The last message of the part; null = the whole branch. */
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
  tenantId: string,
  query: HistoryQuery,
  lorebooks: Conversation["lorebooks"],
): Promise<History> {
  const branch = branchOf(tenantId, query.chatId);
  const last = await findLastSeq(tx, branch, query.inputMessageId);
  const draft = query.draft === null ? [] : [draftMessage(query.draft, last)];
  const { window } = query;
  if (window === null) {
    const all = await selectMessages(tx, branch).where("seq", "<=", last).orderBy("seq").execute();
    return { messages: [...all, ...draft], earlier: [] };
  }
  const newest = await loadNewest(tx, branch, last, window.bytes, (messages) =>
    window.isEnough([...messages, ...draft], { lorebooks }),
  );
  const border = newest[0]?.seq ?? 0;
  const apart = await loadApart(tx, branch, border);
  const grouped = await loadRestOfGroups(tx, branch, border, [...apart, ...newest]);
  const older = [...apart, ...grouped].toSorted((a, b) => a.seq - b.seq);
  const earlier = await countRest(tx, branch, border, older);
  const messages = [...older, ...newest, ...draft];
  return { messages, earlier };
}

type Branch = RawBuilder<boolean>;

function branchOf(tenantId: string, chatId: string): Branch {
  return sql<boolean>`tenant_id = ${tenantId} and chat_id = ${chatId} and branch = 0 and active`;
}

/** Position of the message to answer; without one that of the branch's last, 0 in an empty chat. */
async function findLastSeq(tx: Tx, branch: Branch, inputMessageId: string | null): Promise<number> {
  const row = await tx
    .selectFrom("messages")
    .select("seq")
    .where(branch)
    .$if(inputMessageId !== null, (query) => query.where("id", "=", inputMessageId ?? ""))
    .orderBy("seq", "desc")
    .limit(1)
    .executeTakeFirst();
  // Answering nothing would send a prompt without the chat in it, and call that a turn.
  if (!row && inputMessageId !== null) throw new Error("the message to answer is not in the chat's active branch");
  return row?.seq ?? 0;
}

/** Backwards, piece by piece, until it is enough; a short rest is not worth leaving behind. */
async function loadNewest(
  tx: Tx,
  branch: Branch,
  last: number,
  windowBytes: number,
  isEnough: (newest: readonly ChatMessage[]) => boolean,
): Promise<readonly ChatMessage[]> {
  let newest: readonly ChatMessage[] = [];
  let piece = { rows: FIRST_ROWS, bytes: windowBytes };
  let [border, total] = [last + 1, 0];
  for (;;) {
    const rows = await loadRange(tx, branch, border - 1, piece);
    const bytes = rows.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
    newest = [...rows, ...newest];
    if (rows.length < piece.rows && bytes < piece.bytes) return newest;
    border = rows[0]?.seq ?? border;
    total += bytes;
    if (total < windowBytes) continue;
    if (isEnough(newest)) break;
    piece = { rows: piece.rows * 4, bytes: piece.bytes * 4 };
  }
  const rest = await loadRange(tx, branch, border - 1, { rows: LONGEST_LISTED_RUN + 1, bytes: windowBytes });
  const isShort = rest.length <= LONGEST_LISTED_RUN && (await findFirstSeq(tx, branch)) === (rest[0]?.seq ?? border);
  return isShort ? [...rest, ...newest] : newest;
}

async function findFirstSeq(tx: Tx, branch: Branch): Promise<number | null> {
  const row = await tx.selectFrom("messages").select("seq").where(branch).orderBy("seq").limit(1).executeTakeFirst();
  return row?.seq ?? null;
}

/** The newest messages up to a position, oldest first: at most so many, and no more than reach the given bytes of text. */
async function loadRange(
  tx: Tx,
  branch: Branch,
  upTo: number,
  piece: { readonly rows: number; readonly bytes: number },
): Promise<ChatMessage[]> {
  const rows = await selectMessages(tx, branch)
    .where("seq", "<=", upTo)
    .where(
      sql<boolean>`seq >= coalesce((
        select max(seq) from (
          select seq, sum(octet_length(content)) over (order by seq desc) as bytes
          from (select seq, content from messages where ${branch} and seq <= ${upTo} order by seq desc limit ${piece.rows}) as newest
        ) as sums where bytes >= ${piece.bytes}
      ), 0)`,
    )
    .orderBy("seq", "desc")
    .limit(piece.rows)
    .execute();
  return rows.reverse();
}

/** By the index of their own; the condition is the index's, word for word. System rows that may leave are ordinary. */
async function loadApart(tx: Tx, branch: Branch, border: number): Promise<readonly ChatMessage[]> {
  return selectMessages(tx, branch)
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
  branch: Branch,
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
  const uses = (await selectToolUse(tx, branch, border)).filter(({ seq }) => !known.has(seq));
  const all = [...uses, ...loaded].toSorted((a, b) => a.seq - b.seq);
  const heads = linkToolCalls(all).map(({ head }) => head);
  const needed = new Set(heads.filter((head, index) => head !== null && known.has(all[index]?.seq ?? 0)));
  const seqs = all
    .filter(({ seq }, index) => needed.has(heads[index] ?? null) && !known.has(seq))
    .map(({ seq }) => seq);
  if (seqs.length === 0) return [];
  return selectMessages(tx, branch).where("seq", "in", seqs).execute();
}

/** What links calls and results, without the texts. */
function selectToolUse(tx: Tx, branch: Branch, border: number) {
  return tx
    .selectFrom("messages")
    .select(["seq", "role", "tool_calls as toolCalls", "tool_call_id as toolCallId"])
    .where(branch)
    .where(sql<boolean>`(tool_call_id is not null or tool_calls <> '[]'::jsonb)`)
    .where("seq", "<", border)
    .execute();
}

/** Counts what was not loaded, from one loaded message to the next. */
async function countRest(
  tx: Tx,
  branch: Branch,
  border: number,
  loaded: readonly ChatMessage[],
): Promise<readonly EarlierMessages[]> {
  const seqs = loaded.map(({ seq }) => seq);
  const { rows } = await sql<EarlierMessages>`
    select min(seq) as "fromSeq", max(seq) as "toSeq", count(*)::int as count
    from messages
    where ${branch} and seq < ${border} and seq <> all(${seqs}::int[])
    group by width_bucket(seq, ${[0, ...seqs]}::int[])
    order by 1
  `.execute(tx);
  return rows;
}

function selectMessages(tx: Tx, branch: Branch) {
  return tx
    .selectFrom("messages")
    .select([
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
    ])
    .where(branch);
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
