import { groupBy, type Evidence } from "./evidence.ts";
import type { Followed } from "./followed.ts";
import type { GenerationFacts } from "./load-rows.ts";
import { SCENARIOS } from "./scenarios.ts";
import { checkReaders, checkReplies, checkRereads } from "./stream-checks.ts";

/** What one check found: how many things it looked at, and each one that breaks the promise. */
export interface Finding {
  readonly checked: number;
  readonly violations: readonly string[];
}

type Check = (evidence: Evidence) => Finding;

const TERMINAL: readonly string[] = ["completed", "failed", "cancelled"];
/** G1: ten seconds beyond the deadline, whatever died in between. */
const LATEST_END_MS = 10_000;

/** Every promise, by its name in the report. */
export const CHECKS = {
  "every 202 has a row": over(
    ({ followed }) => followed,
    (turn, { rowOf }) => rowOf(turn) === undefined,
  ),
  "G1 ends by its deadline + 10 s": overRows(
    ({ status, lateMs }) => !TERMINAL.includes(status) || lateMs === null || lateMs > LATEST_END_MS,
  ),
  "G2 one terminal transition": overRows((row, { transitionsOf }) => {
    const steps = transitionsOf(row);
    const ends = steps.filter(({ to }) => TERMINAL.includes(to));
    return ends.length !== 1 || steps.some(({ from }) => from !== null && TERMINAL.includes(from));
  }),
  "G2 one terminal event, the row's": checkTerminalEvents,
  "G2 clients saw one end, the row's": over(
    ({ followed }) => followed,
    (turn, { rowOf }) => turn.ends.some((status) => status !== rowOf(turn)?.status),
  ),
  "G3 accepted cancel never completes": over(
    ({ followed }) => followed.filter(({ cancel }) => cancel === "accepted"),
    (turn, { rowOf }) => rowOf(turn)?.status !== "cancelled",
  ),
  "G3 cancelled in the row, or not at all": overRows(
    ({ status, cancelRequested }) => (status === "cancelled") !== cancelRequested,
  ),
  "G3 refused cancel changes nothing": over(
    ({ followed }) => followed.filter(({ cancel, superseded }) => cancel === "refused" && !superseded),
    (turn, { rowOf }) => rowOf(turn)?.status === "cancelled",
  ),
  "G4 attempts are bounded": overRows(({ attempts, maxAttempts }) => attempts > maxAttempts),
  "G4 no attempt starts after a cancel": overRows((row, { transitionsOf }) =>
    transitionsOf(row).some(({ to, cancelRequested }) => to === "running" && cancelRequested),
  ),
  "G4 no attempt is left open": ({ rows }) =>
    finding(
      rows.attempts,
      ({ open, outcome }) => open || outcome === null,
      ({ generationId }) => generationId,
    ),
  "G4 no attempt is lost without a fault": checkLostAttempts,
  "G5 one reply, as streamed": checkReplies,
  "G8 streams are ordered and whole": checkReaders,
  "G8 a second reading equals the first": checkRereads,
  "failures are explained": over(({ followed }) => followed, isUnexplained, describeFailure),
  "repeated keys find the same generation": over(
    ({ followed }) => followed.filter(({ repeats }) => repeats.length > 0),
    ({ id, repeats }) => repeats.some((repeat) => repeat !== id),
  ),
  "each message is stored once": checkMessages,
  "positions are whole, one variant active": checkPositions,
  "no audit is left prepared": ({ rows }) =>
    finding(
      rows.generations,
      ({ id }) => rows.preparedAudits.includes(id),
      ({ id }) => id,
    ),
  "no process ends by itself": ({ deaths }) => ({ checked: deaths.length, violations: deaths }),
  "no answer surprises": ({ followed, surprises }) => ({ checked: followed.length, violations: surprises }),
} as const satisfies Record<string, Check>;

function over(
  itemsOf: (evidence: Evidence) => readonly Followed[],
  isBroken: (turn: Followed, evidence: Evidence) => boolean,
  describe: (turn: Followed, evidence: Evidence) => string = describeTurn,
): Check {
  return (evidence) =>
    finding(
      itemsOf(evidence),
      (turn) => isBroken(turn, evidence),
      (turn) => describe(turn, evidence),
    );
}

function overRows(isBroken: (row: GenerationFacts, evidence: Evidence) => boolean): Check {
  return (evidence) =>
    finding(
      evidence.rows.generations,
      (row) => isBroken(row, evidence),
      (row) => JSON.stringify({ ...row, steps: evidence.transitionsOf(row).map(({ from, to }) => `${from}>${to}`) }),
    );
}

function finding<T>(items: readonly T[], isBroken: (item: T) => boolean, describe: (item: T) => string): Finding {
  return { checked: items.length, violations: items.filter(isBroken).map(describe) };
}

function describeTurn({ id, scenario, cancel, ends, repeats }: Followed, { rowOf }: Evidence): string {
  return JSON.stringify({ id, scenario, cancel, ends, repeats, status: rowOf({ id } as Followed)?.status ?? "no row" });
}

function checkTerminalEvents({ rows, databaseCrashed }: Evidence): Finding {
  const events = groupBy(rows.terminalEvents, ({ generationId }) => generationId);
  return finding(
    rows.generations,
    ({ id, status }) => {
      const ends = events.get(id) ?? [];
      return ends.length > 1 || ends.some((end) => end.status !== status) || (ends.length === 0 && !databaseCrashed);
    },
    ({ id, status }) => `${id} ${status}: ${JSON.stringify(events.get(id) ?? [])}`,
  );
}

/** A worker that is well is not taken for dead: what it runs would be paid for twice. */
function checkLostAttempts({ rows, attemptsAtRisk }: Evidence): Finding {
  const lost = rows.attempts.filter(({ errorCode }) => errorCode === "WORKER_LOST");
  const tooMany = `${lost.length} attempts lost, where the faults explain ${attemptsAtRisk} at most`;
  return { checked: lost.length, violations: lost.length > attemptsAtRisk ? [tooMany] : [] };
}

/** A failure has to be the scenario's own, or that of a turn whose every attempt lost its worker. */
function isUnexplained(turn: Followed, { rowOf }: Evidence): boolean {
  const row = rowOf(turn);
  if (row === undefined || row.status === "cancelled") return false;
  const { mayFailWith, mayComplete } = SCENARIOS[turn.scenario];
  if (row.status === "completed") return !mayComplete;
  if (row.errorCode === "WORKER_LOST") return row.attempts < row.maxAttempts;
  if (row.errorCode === "DEADLINE_EXCEEDED") return !turn.shortDeadline;
  return !(mayFailWith as readonly string[]).includes(row.errorCode ?? "");
}

function describeFailure(turn: Followed, { rowOf, transitionsOf }: Evidence): string {
  const row = rowOf(turn);
  const steps = row ? transitionsOf(row).map(({ to }) => to) : [];
  return `${turn.id} ${turn.scenario}: ${row?.status} ${row?.errorCode} after ${row?.attempts} attempts (${steps.join(" > ")})`;
}

/** In the chat; or, of a turn that ended before its place in the line came up, kept for its retry. */
function checkMessages({ followed, rows }: Evidence): Finding {
  const inChats = rows.messages.filter(({ role }) => role === "user").map(({ content }) => content);
  const stored = groupBy([...inChats, ...rows.messagesKeptForRetry], (content) => content);
  const times = (message: string) => stored.get(message)?.length ?? 0;
  return finding(
    followed.flatMap(({ message }) => (message === null ? [] : [message])),
    (message) => times(message) !== 1,
    (message) => `${message}: stored ${times(message)} times`,
  );
}

function checkPositions({ rows }: Evidence): Finding {
  const chats = groupBy(rows.messages, ({ chatId, branch }) => `${chatId}/${branch}`);
  return finding(
    [...chats],
    ([, messages]) => {
      const positions = groupBy(messages, ({ seq }) => String(seq));
      const seqs = [...positions.keys()].map(Number).sort((a, b) => a - b);
      const whole = seqs.every((seq, index) => index === 0 || seq === (seqs[index - 1] ?? 0) + 1);
      const taken = [...positions.values()].some((variants) => {
        const distinct = new Set(variants.map(({ variant }) => variant)).size === variants.length;
        return !distinct || variants.filter(({ active }) => active).length > 1;
      });
      return !whole || taken;
    },
    ([chat]) => chat,
  );
}
