import { randomFrom, type Random } from "./random.ts";
import { SCENARIO_LOTS, SCENARIOS, type ScenarioName } from "./scenarios.ts";

/** Everything that is decided about one turn before it is sent; the same seed and number give the same plan. */
export interface TurnPlan {
  readonly number: number;
  readonly scenario: ScenarioName;
  readonly words: number;
  /** Pause before each word, in milliseconds. */
  readonly delayMs: number;
  readonly deadlineMs: number;
  /** When the turn is sent with the same Idempotency-Key again. */
  readonly repeat: "never" | "at-once" | "afterwards";
  /** Streams the events, dropping the connection after each of these numbers of events. `null` = asks for the status. */
  readonly readerDropsAfter: readonly number[] | null;
  readonly cancel: CancelPlan | null;
  /** A second turn in the same chat while this one is active. */
  readonly beside: "reject" | "queue" | "supersede" | null;
  /** Ask for another run when it failed or was cancelled. */
  readonly retry: boolean;
  /** Read the events again from a place in between, and compare. */
  readonly reread: boolean;
}

/** `after` = so long after it was accepted; `at-end` = so long after the last word was seen: a race with the finish. */
export interface CancelPlan {
  readonly when: "after" | "at-end";
  readonly delayMs: number;
}

/** Long enough for every fault and three attempts: a healthy installation lets no ordinary turn come near it. */
export const DEADLINE_MS = 90_000;
/** For some of the turns whose provider hangs: these are to end by their deadline. */
export const SHORT_DEADLINE_MS = 1_500;

export function planTurn(seed: number, number: number): TurnPlan {
  const random = randomFrom(seed, number);
  const scenario = random.pick(SCENARIO_LOTS);
  const slow = scenario === "slow-words";
  const delayMs = slow ? random.between(40, 80) : random.between(0, 15);
  const readerDropsAfter = random.chance(0.5) ? drops(random.between(0, 2), () => random.between(1, 12)) : null;
  const hangs = scenario.startsWith("hang");
  return {
    number,
    scenario,
    words: slow ? random.between(20, 40) : random.between(2, 20),
    delayMs,
    deadlineMs: hangs && random.chance(0.5) ? SHORT_DEADLINE_MS : DEADLINE_MS,
    repeat: random.pick(["never", "never", "at-once", "afterwards"]),
    readerDropsAfter,
    cancel: planCancel(random, readerDropsAfter !== null && SCENARIOS[scenario].mayComplete, delayMs),
    beside: random.chance(0.1) ? random.pick(["reject", "queue", "supersede"]) : null,
    retry: random.chance(0.4),
    reread: random.chance(0.5),
  };
}

function planCancel(random: Random, canRace: boolean, eventDelayMs: number): CancelPlan | null {
  const kind = random.next();
  const spread = random.next();
  if (kind < 0.12) return { when: "after", delayMs: Math.floor(spread * 600) };
  if (kind > 0.5 || !canRace) return null;
  // The end, usage and [DONE] follow the last word, each after its pause; then the end is stored within milliseconds.
  return { when: "at-end", delayMs: Math.max(0, Math.floor(3 * eventDelayMs - 6 + spread * 14)) };
}

function drops(count: number, afterEvents: () => number): readonly number[] {
  return Array.from({ length: count }, afterEvents);
}

/** The message of a turn: unique, and the order to the provider. */
export function messageOf({ number, scenario, words, delayMs }: TurnPlan, part = ""): string {
  return `Turn ${number}${part}: chaos ${JSON.stringify({ turn: `${number}${part}`, scenario, words, delayMs })}`;
}
