import type { CountedBlock } from "../block.ts";
import { TokenBudgetExceededError } from "../errors.ts";
import { ownId, type ContextMessage } from "./context-message.ts";
import { fit } from "./fit.ts";
import { runStrategy } from "./guard.ts";
import { contextOf } from "./message-context.ts";
import { isPromise, run, wait, type Plan } from "./plan.ts";
import { readMessages } from "./read-messages.ts";
import { isBuiltIn, resolveStrategy } from "./registry.ts";
import { blocksOf, type Seen } from "./seen-messages.ts";
import type { CountTokens, ShiftOptions, ShiftOutcome } from "./shift-options.ts";
import { finalMessage, outcomeOf } from "./shift-outcome.ts";
import { truncate } from "./strategies/truncate.ts";
import type { ShiftContext, ShiftInput, ShiftResult, Strategy } from "./strategy.ts";
import { suffixWalk } from "./suffix-walk.ts";

/**
 * Makes messages fit: decides by groups who leaves, keeps what is protected, never parts a call from its results. Takes
 * OpenAI-style messages, or blocks of the pipeline. A promise comes back only when the counter or the strategy gives one.
 * Each message is counted at most once, what stays once more at the end. Time: O(messages), small, + O(kept).
 *
 * @param budget tokens for everything, `overheadTokens` included: a whole number, 0 or more.
 * @throws RangeError for a budget, overhead or low-water mark that is none.
 * @throws TokenBudgetExceededError when what has to stay costs more than the budget.
 * @throws AssemblyInputError `STRATEGY_UNKNOWN`, or `VALIDATION_FAILED` for a strategy option.
 */
export function shiftContext<M extends ContextMessage>(
  messages: readonly M[],
  countTokens: (message: M) => number,
  budget: number,
  options?: ShiftOptions<M> & {
    readonly strategy?: "truncate" | "summarize" | "vector-recall" | "manual";
    readonly registry?: never;
  },
): ShiftOutcome<M>;
export function shiftContext<M extends ContextMessage>(
  messages: readonly M[],
  countTokens: (message: M) => Promise<number>,
  budget: number,
  options?: ShiftOptions<M>,
): Promise<ShiftOutcome<M>>;
export function shiftContext<M extends ContextMessage>(
  messages: readonly M[],
  countTokens: CountTokens<M>,
  budget: number,
  options?: ShiftOptions<M>,
): ShiftOutcome<M> | Promise<ShiftOutcome<M>>;
export function shiftContext<M extends ContextMessage>(
  messages: readonly M[],
  countTokens: CountTokens<M>,
  budget: number,
  options: ShiftOptions<M> = {},
): ShiftOutcome<M> | Promise<ShiftOutcome<M>> {
  const { overheadTokens = 0, lowWater, signal, strategyOptions = {} } = options;
  requireTokens("budget", budget);
  requireTokens("overheadTokens", overheadTokens);
  if (lowWater !== undefined && !(lowWater >= 0 && lowWater <= 1))
    throw new RangeError("lowWater must be from 0 to 1.");
  signal?.throwIfAborted();
  const strategy = resolveStrategy(options.strategy ?? "truncate", strategyOptions, options.registry);
  return run(shifted({ messages, countTokens: checked(countTokens), budget, overheadTokens, options, strategy }));
}

function requireTokens(name: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new RangeError(`${name} must be a whole number of tokens, 0 or more; it is ${String(value)}.`);
  }
}

function checked<M>(countTokens: CountTokens<M>): CountTokens<M> {
  const check = (tokens: number): number => {
    requireTokens("The count of a message", tokens);
    return tokens;
  };
  return (message) => {
    const tokens = countTokens(message);
    return isPromise(tokens) ? tokens.then(check) : check(tokens);
  };
}

interface Task<M> {
  readonly messages: readonly M[];
  readonly countTokens: CountTokens<M>;
  readonly budget: number;
  readonly overheadTokens: number;
  readonly options: ShiftOptions<M>;
  readonly strategy: Strategy;
}

function* shifted<M extends ContextMessage>(task: Task<M>): Plan<ShiftOutcome<M>> {
  const { messages, strategy, budget, overheadTokens, options } = task;
  const leaves = isBuiltIn(strategy) ? strategy.leavesAnyway : () => false;
  const leavesAnyway = (message: ContextMessage | undefined): boolean =>
    leaves({ manualExcluded: message?.meta?.manualExcluded === true });
  const reading = readMessages(messages, { isOptional: optionalOf(options), leavesAnyway });
  const needs = isBuiltIn(strategy) ? strategy.oldHistory : "counted";
  const limits = { budgetTokens: needs === "counted" ? Infinity : budget, overheadTokens };
  const cost = (index: number): number | Promise<number> => task.countTokens(messages[index] as M);
  const walked = yield* suffixWalk(messages.length, reading, cost, limits, (index) => leavesAnyway(messages[index]));
  const seen = blocksOf(messages, reading, walked, needs);
  const context = contextOf(task, seen, walked);
  const { strategyOptions = {} } = options;
  const asked = strategyOptions["lowWater"];
  const input: ShiftInput = {
    blocks: seen.blocks,
    older: seen.olderBlocks,
    budgetTokens: budget,
    overheadTokens,
    strategyOptions,
    tieRanks: new Map(),
    lowWater: options.lowWater ?? (typeof asked === "number" ? asked : null),
    anchorId: options.anchorId ?? null,
  };
  const first = yield* runStrategy(strategy, input, context);
  const result = yield* recounted(task, input, refuseExceeded(first, budget), seen, context);
  return outcomeOf(messages, reading, seen, result);
}

function optionalOf<M extends ContextMessage>({ optional }: ShiftOptions<M>) {
  const byId = typeof optional === "function" ? null : new Set(optional);
  return (message: ContextMessage, index: number): boolean => {
    if (message.meta?.optional === true) return true;
    if (optional === undefined) return false;
    return byId === null
      ? (optional as (message: M) => boolean)(message as M)
      : byId.has(ownId(message) ?? `#${index}`);
  };
}

function refuseExceeded(result: ShiftResult, budgetTokens: number): ShiftResult {
  if (result.exceeded === null) return result;
  throw new TokenBudgetExceededError({ ...result.exceeded, budgetTokens });
}

/** Counts what stays once more, on the messages as they go out, and makes it fit again if the counts differ. */
function* recounted<M extends ContextMessage>(
  task: Task<M>,
  input: ShiftInput,
  result: ShiftResult,
  { messageOf }: Seen<M>,
  context: ShiftContext,
): Plan<ShiftResult> {
  const blocks: CountedBlock[] = [];
  let total = input.overheadTokens;
  for (const block of result.kept) {
    const tokens = yield* wait(task.countTokens(finalMessage(block, messageOf)));
    total += tokens;
    blocks.push(tokens === block.tokens ? block : { ...block, tokens });
  }
  if (total <= input.budgetTokens) return result;
  const { leavingOrder } = isBuiltIn(task.strategy) ? task.strategy : truncate;
  const again = { ...input, blocks, lowWater: null, anchorId: null };
  const second = refuseExceeded(yield* fit(again, leavingOrder(again), context), input.budgetTokens);
  return {
    ...second,
    excluded: [...result.excluded, ...second.excluded],
    truncated: [...result.truncated, ...second.truncated],
  };
}
