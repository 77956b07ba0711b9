import type { BlockSource } from "./block.ts";

/** Error codes the pipeline itself decides. `contracts` builds the closed list of all codes from these. */
export const ASSEMBLY_ERROR_CODES = [
  "TOKEN_BUDGET_EXCEEDED",
  "MODEL_UNKNOWN",
  "STRATEGY_UNKNOWN",
  "VALIDATION_FAILED",
] as const;
export type AssemblyErrorCode = (typeof ASSEMBLY_ERROR_CODES)[number];

export interface LargestBlock {
  readonly blockId: string;
  readonly source: BlockSource;
  readonly label: string;
  readonly tokens: number;
}

/** Protected context does not fit. A value, not an exception: everything assembled so far is still audited. */
export interface TokenBudgetExceeded {
  readonly code: "TOKEN_BUDGET_EXCEEDED";
  readonly protectedTokens: number;
  readonly budgetTokens: number;
  readonly contextLimit: number;
  readonly reservedForReply: number;
  /** The dearest protected blocks, at most five, dearest first. */
  readonly largest: readonly LargestBlock[];
}

/** What `shiftContext` throws when protected context does not fit. */
export class TokenBudgetExceededError extends Error {
  readonly code = "TOKEN_BUDGET_EXCEEDED";
  /** What has to stay costs this much, `overheadTokens` included. */
  readonly protectedTokens: number;
  readonly budgetTokens: number;
  /** The dearest messages that have to stay, at most five, dearest first. */
  readonly largest: readonly LargestBlock[];

  constructor(facts: Pick<TokenBudgetExceeded, "protectedTokens" | "budgetTokens" | "largest">) {
    super(`What has to stay costs ${facts.protectedTokens} tokens; the budget is ${facts.budgetTokens}.`);
    this.name = "TokenBudgetExceededError";
    this.protectedTokens = facts.protectedTokens;
    this.budgetTokens = facts.budgetTokens;
    this.largest = facts.largest;
  }
}

/** Input the pipeline cannot work with: names the field (JSON Pointer into the request) and the fix. */
export class AssemblyInputError extends Error {
  readonly code: AssemblyErrorCode;
  readonly pointer: string;
  readonly fix: string;

  constructor(code: AssemblyErrorCode, pointer: string, message: string, fix: string) {
    super(message);
    this.name = "AssemblyInputError";
    this.code = code;
    this.pointer = pointer;
    this.fix = fix;
  }
}
