import type { Block, CountedBlock } from "../block.ts";
import type { TokenBudgetExceeded } from "../errors.ts";
import type { ShiftStep } from "../prompt.ts";
import type { ExcludedReason } from "../reasons.ts";

/**
 * A block on its way through the assembly. `tokens: null` = not counted: before `tokenize` all are, after it only
 * history so old that it cannot fit.
 */
export interface MeasuredBlock extends Block {
  readonly tokens: number | null;
}

/** A block that a shift left out. */
export interface ShiftedOut {
  readonly block: MeasuredBlock;
  readonly reason: ExcludedReason;
}

export interface ShiftInput {
  /** In prompt order. */
  readonly blocks: readonly MeasuredBlock[];
  readonly budgetTokens: number;
  /** Fixed cost beside the blocks: priming and tool schemas. */
  readonly overheadTokens: number;
  readonly strategyOptions: { readonly [key: string]: unknown };
  /** Breaks ties of relevance within a source, lowest leaves first (`tieRanks`); a block it does not name ranks 0. */
  readonly tieRanks: ReadonlyMap<string, number>;
}

/** `kept` in prompt order, `excluded` in leaving order. With `exceeded` set, `kept` is what must stay and does not fit. */
export interface ShiftResult {
  readonly kept: readonly CountedBlock[];
  readonly excluded: readonly ShiftedOut[];
  readonly steps: readonly ShiftStep[];
  readonly exceeded: { readonly protectedTokens: number; readonly largest: TokenBudgetExceeded["largest"] } | null;
}

/** A way to make a prompt fit. Pure and deterministic; keeps whole groups. */
export interface Strategy {
  readonly id: string;
  /** Checks `strategyOptions`; throws `AssemblyInputError` with a pointer to the option. */
  checkOptions(options: { readonly [key: string]: unknown }): void;
  shift(input: ShiftInput): ShiftResult;
}
