import type { ChatRequest, ProviderRequest } from "../prompt.ts";
import { countOverhead, countParameters, type Counter, type WireTool } from "../tokens/counter.ts";
import { isChatRequest } from "../wire/chat-request.ts";
import { validateChatRequest } from "../wire/validate.ts";
import { validateTextRequest } from "../wire/validate-text.ts";

/** Rounds of lowering the budget by the excess before the prompt is given up. */
const MOST_CORRECTIONS = 2;

/**
 * The cost of a request, taken from the payload alone. Chat: priming, tool schemas, structured parameters and every
 * message as it stands there. Text: the prompt string whole, and structured parameters.
 */
export function countRequest(counter: Counter, request: ProviderRequest): number {
  if (isChatRequest(request)) return countChatRequest(counter, request);
  const { prompt, stream_options: _ours, stop: _texts, ...rest } = request;
  return counter.countText(prompt) + countParameters(counter, rest);
}

function countChatRequest(counter: Counter, request: ChatRequest): number {
  const { messages, tools = [], stream_options: _ours, stop: _texts, ...rest } = request;
  const overhead = countOverhead(counter, tools as readonly WireTool[], rest);
  return messages.reduce((sum, message) => sum + counter.countMessage(message), overhead);
}

/** A prompt that is ready to be counted: `request: null` when it could not be made to fit. */
export interface Attempt {
  readonly request: ProviderRequest | null;
}

/**
 * Counts the exact payload. Over budget: `again` makes the prompt anew with the budget lowered by the excess, at most
 * twice. Answers the last attempt and its count; `fits: false` = no request may leave. Throws when the payload is one
 * that a provider would refuse, because that is a fault of ours.
 */
export function verify<A extends Attempt>(input: {
  readonly attempt: A;
  readonly budgetTokens: number;
  readonly count: (request: ProviderRequest) => number;
  /** What a provider would refuse. Default: by the request's shape alone. */
  readonly validate?: (request: ProviderRequest) => readonly string[];
  readonly again: (attempt: A, budgetTokens: number) => A;
}): { readonly attempt: A; readonly promptTokens: number | null; readonly fits: boolean } {
  let { attempt } = input;
  let budgetTokens = input.budgetTokens;
  for (let correction = 0; ; correction += 1) {
    if (attempt.request === null) return { attempt, promptTokens: null, fits: false };
    const promptTokens = input.count(attempt.request);
    const excess = promptTokens - input.budgetTokens;
    if (excess <= 0) {
      refuseInvalid((input.validate ?? validateShape)(attempt.request));
      return { attempt, promptTokens, fits: true };
    }
    if (correction === MOST_CORRECTIONS) return { attempt, promptTokens, fits: false };
    budgetTokens = Math.max(0, budgetTokens - excess);
    attempt = input.again(attempt, budgetTokens);
  }
}

function validateShape(request: ProviderRequest): readonly string[] {
  return isChatRequest(request) ? validateChatRequest(request) : validateTextRequest(request);
}

function refuseInvalid(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(`The assembled request is not valid: ${problems.join("; ")}`);
}
