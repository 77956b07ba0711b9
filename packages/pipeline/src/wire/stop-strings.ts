import type { Repaired } from "./wire.ts";

/**
 * The most stop strings a request holds. Source: OpenAI's reference of `stop` in chat and text completions, "Up to 4
 * sequences"; a fifth has the request refused.
 */
export const MOST_STOP_STRINGS = 4;

/** The stop strings of a request, and those it had no room for. */
export interface ChosenStopStrings {
  readonly sent: readonly string[];
  readonly leftOut: readonly Repaired[];
}

/** Each string once, the first ones as far as a request holds them. */
export function chooseStopStrings(byImportance: readonly string[]): ChosenStopStrings {
  const each = [...new Set(byImportance)];
  return {
    sent: each.slice(0, MOST_STOP_STRINGS),
    leftOut: each
      .slice(MOST_STOP_STRINGS)
      .map((text) => ({ repair: "stop_string_left_out" as const, blockId: null, text })),
  };
}
