import type { Block } from "../../block.ts";
import { marginFor } from "../../budget.ts";
import { countRequest } from "../../stages/verify.ts";
import { createCounter } from "../../tokens/counter.ts";
import { profileFor } from "../../tokens/profiles.ts";
import { singleTurnRequest } from "../../wire/single-turn.ts";
import type { ShiftContext } from "../strategy.ts";
import type { Summariser } from "./summariser.ts";
import { summaryBlock } from "./summary-block.ts";

/** Kept free of a window whose model counts in a way that is not known. */
const UNKNOWN_COUNT_MARGIN = 0.05;

/** What a prompt to a summariser may cost, and what it does, in tokens. */
export interface PromptGauge {
  /** The window without the reply, and without the margin of a count that is not exact. */
  readonly limitTokens: number;
  /** The cost of asking with `prompt`, as a whole request. */
  count(prompt: string): number | Promise<number>;
}

/** Counts as the summariser's own model and wire do; where they are not known, as the turn is counted. */
export function gaugeFor(summariser: Summariser, maxTokens: number, context: ShiftContext): PromptGauge {
  const windowTokens = summariser.contextLimit ?? context.contextLimit;
  const { request = null } = summariser;
  if (request === null) {
    const limitTokens = Math.floor(windowTokens * (1 - UNKNOWN_COUNT_MARGIN)) - maxTokens;
    return { limitTokens, count: (prompt) => context.count(userBlock(prompt)) };
  }
  const profile = profileFor(request.model);
  const counter = createCounter(profile);
  return {
    limitTokens: windowTokens - marginFor(windowTokens, profile) - maxTokens,
    count: (prompt) => countRequest(counter, singleTurnRequest({ ...request, text: prompt, maxTokens })),
  };
}

/** A text as a message of the user. */
export function userBlock(content: string): Block {
  return { ...summaryBlock(content, [], []), role: "user" };
}
