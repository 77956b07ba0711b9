import { isDeepStrictEqual } from "node:util";
import type { Finding } from "./checks.ts";
import type { Evidence } from "./evidence.ts";
import type { Followed } from "./followed.ts";
import type { GenerationFacts } from "./load-rows.ts";
import { isTerminalType, type SeenEvent } from "./read-events.ts";
import { readText } from "./seen-text.ts";

/** G5: at most one reply, marked for what it is, and its text is what each reader was streamed. */
export function checkReplies(evidence: Evidence): Finding {
  const streamed = new Map(
    evidence.followed.flatMap((turn) => {
      const row = evidence.rowOf(turn);
      return row === undefined ? [] : [[row.id, turn] as const];
    }),
  );
  const violations = evidence.rows.generations.flatMap((row) => {
    const wrong = replyTrouble(evidence, row) ?? textTrouble(evidence, row, streamed.get(row.id));
    return wrong === null ? [] : [`${row.id} ${row.status}: ${wrong}`];
  });
  return { checked: evidence.rows.generations.length, violations };
}

function replyTrouble({ repliesOf }: Evidence, row: GenerationFacts): string | null {
  const replies = repliesOf(row);
  const [reply] = replies;
  if (replies.length > 1) return `${replies.length} replies`;
  if (row.status === "completed" && reply === undefined) return "completed without a reply";
  if (reply === undefined) return row.outputMessageId === null ? null : "names a reply that is not there";
  if (reply.id !== row.outputMessageId) return "does not name its reply";
  return reply.partial === (row.status !== "completed") ? null : `its reply is ${reply.partial ? "" : "not "}partial`;
}

function textTrouble({ repliesOf, eventsWereLost }: Evidence, row: GenerationFacts, turn?: Followed): string | null {
  const events = turn?.events ?? null;
  if (events === null || !events.some(({ type }) => isTerminalType(type))) return null;
  const { text, gaps } = readText(events);
  if (gaps.length > 0) return null;
  const stored = repliesOf(row)[0]?.content ?? "";
  if (stored === text) return null;
  // Ended in its worker's place after the event log was lost: nothing is stored rather than a part.
  if (stored === "" && eventsWereLost && row.status !== "completed") return null;
  return `streamed ${JSON.stringify(text)}, stored ${JSON.stringify(stored)}`;
}

/** G8: numbers go up by one, a hole is announced, and there are holes only when events were lost. */
export function checkReaders({ followed, eventsWereLost }: Evidence): Finding {
  const readers = followed.filter(({ events }) => events !== null);
  const violations = readers.flatMap(({ id, events }) => {
    const { faults, gaps } = readText(events ?? []);
    const unfounded =
      gaps.length > 0 && !eventsWereLost ? [`gaps ${JSON.stringify(gaps)} although nothing was lost`] : [];
    return [...faults, ...unfounded].map((fault) => `${id}: ${fault}`);
  });
  return { checked: readers.length, violations };
}

/** G8: reading again from any number gives the same events. */
export function checkRereads({ followed, eventsWereLost }: Evidence): Finding {
  const rereads = followed.flatMap(({ id, events, reread }) => (events && reread ? [{ id, events, reread }] : []));
  const violations = rereads.flatMap(({ id, events, reread: { after, events: again } }) => {
    const { faults, gaps } = readText(again, after);
    if (gaps.length > 0 && !eventsWereLost) return [`${id}: a gap although nothing was lost`];
    if (gaps.length > 0 || readText(events).gaps.length > 0) return faults.map((fault) => `${id}: ${fault}`);
    const before = events.filter(({ seq }) => seq > after);
    if (sameEvents(before, again)) return [];
    return [`${id}: behind ${after} ${JSON.stringify(again)}, before ${JSON.stringify(before)}`];
  });
  return { checked: rereads.length, violations };
}

/** Whatever the order of an event's fields: what was stored and what was passed on differ in that. */
function sameEvents(first: readonly SeenEvent[], second: readonly SeenEvent[]): boolean {
  return isDeepStrictEqual(first, second);
}
