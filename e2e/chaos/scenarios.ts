import type { ErrorCode } from "@shiftwork/contracts";

/** What the provider does with a turn, how often it is drawn, and what the turn may then fail with. */
interface ScenarioFacts {
  readonly weight: number;
  readonly mayFailWith: readonly ErrorCode[];
  /** It may also complete: always, or because the provider misbehaves once only and a layer tries again. */
  readonly mayComplete: boolean;
}

/** The names are read by `provider.mjs`, which plays them. */
export const SCENARIOS = {
  words: { weight: 46, mayFailWith: [], mayComplete: true },
  "slow-words": { weight: 20, mayFailWith: [], mayComplete: true },
  "hang-before-headers": { weight: 2, mayFailWith: ["PROVIDER_TIMEOUT"], mayComplete: false },
  "hang-before-first-token": { weight: 3, mayFailWith: ["PROVIDER_TIMEOUT"], mayComplete: false },
  "hang-mid-stream": { weight: 3, mayFailWith: ["PROVIDER_TIMEOUT"], mayComplete: false },
  "no-end-mark": { weight: 3, mayFailWith: ["PROVIDER_STREAM_INTERRUPTED"], mayComplete: false },
  cut: { weight: 3, mayFailWith: ["PROVIDER_STREAM_INTERRUPTED"], mayComplete: false },
  "stream-error": { weight: 3, mayFailWith: ["PROVIDER_UNAVAILABLE"], mayComplete: false },
  empty: { weight: 2, mayFailWith: ["EMPTY_COMPLETION"], mayComplete: false },
  "rate-limited-once": { weight: 5, mayFailWith: [], mayComplete: true },
  "overflow-once": { weight: 5, mayFailWith: ["PROVIDER_CONTEXT_LENGTH"], mayComplete: true },
  "error-once": { weight: 5, mayFailWith: [], mayComplete: true },
} as const satisfies Record<string, ScenarioFacts>;
export type ScenarioName = keyof typeof SCENARIOS;

/** Each name as often as its weight says. */
export const SCENARIO_LOTS: readonly ScenarioName[] = (Object.keys(SCENARIOS) as ScenarioName[]).flatMap((name) =>
  Array.from({ length: SCENARIOS[name].weight }, () => name),
);
