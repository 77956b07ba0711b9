import { AssemblyInputError } from "./errors.ts";
import type { AssemblySettings } from "./settings.ts";
import type { Profile } from "./tokens/profile.ts";

/** What a prompt may cost, in tokens. */
export interface ResolvedBudget {
  readonly contextLimit: number;
  readonly reservedForReply: number;
  /** 0 for exact profiles, 5 % of the window, rounded up, for approximate ones. */
  readonly margin: number;
  /** contextLimit − reservedForReply − margin, at least 0. */
  readonly budgetTokens: number;
}

/** A window nobody offers yet; counts stay far inside the 32 bits they are stored in. */
const LARGEST_WINDOW = 100_000_000;
const APPROXIMATE_MARGIN = 0.05;
const SMALLEST_DEFAULT_RESERVE = 256;
const LARGEST_DEFAULT_RESERVE = 4096;

/**
 * Derives the budget of a request. Reserve: `budget.reservedForReply` ?? `parameters.maxTokens` ?? an eighth of the
 * window within 256…4,096, the model's largest reply and half the window (512 → 256, 8,192 → 1,024, 200,000 → 4,096).
 * Throws `AssemblyInputError`: `MODEL_UNKNOWN` without any window, `VALIDATION_FAILED` for numbers that cannot work.
 */
export function resolveBudget(
  settings: Pick<AssemblySettings, "budget" | "parameters" | "model" | "modelFacts">,
  profile: Pick<Profile, "approximate">,
): ResolvedBudget {
  const contextLimit = resolveContextLimit(settings);
  const { maxTokens } = settings.parameters;
  if (maxTokens !== undefined) requireTokens("/parameters/maxTokens", maxTokens, contextLimit - 1);
  const requested = settings.budget.reservedForReply;
  if (requested !== undefined) requireTokens("/budget/reservedForReply", requested, contextLimit - 1);
  const reservedForReply = requested ?? maxTokens ?? defaultReserve(contextLimit, settings.modelFacts.maxOutputTokens);
  const margin = marginFor(contextLimit, profile);
  return {
    contextLimit,
    reservedForReply,
    margin,
    budgetTokens: Math.max(0, contextLimit - reservedForReply - margin),
  };
}

/** The sizes a provider named when it refused a prompt as too long, in its own tokens; `null` = it did not say. */
export interface ToldSize {
  readonly limitTokens: number | null;
  readonly promptTokens: number | null;
}

/** Without a hint that explains the refusal, the next prompt is this share of the refused one. */
const SHARE_WITHOUT_A_HINT = 0.75;
/** Who counted differently once may do so again: this much of a told window stays free. */
const TOLD_MARGIN = 0.05;

/**
 * A budget under which the prompt is strictly smaller than the refused one. The told window counts where it explains the
 * refusal, scaled by how much more the provider counted than we did; else three quarters of the refused prompt. The
 * reply's reserve stays: when it leaves nothing, the budget is 0.
 */
export function tightenBudget(refused: ResolvedBudget, promptTokens: number, told: ToldSize): ResolvedBudget {
  const { limitTokens } = told;
  const within = limitTokens === null ? null : withinToldWindow(refused, promptTokens, { ...told, limitTokens });
  if (within !== null && within.budgetTokens < promptTokens) return within;
  const budgetTokens = Math.floor(promptTokens * SHARE_WITHOUT_A_HINT);
  return { ...refused, budgetTokens, contextLimit: budgetTokens + refused.reservedForReply + refused.margin };
}

function withinToldWindow(
  refused: ResolvedBudget,
  promptTokens: number,
  told: ToldSize & { readonly limitTokens: number },
): ResolvedBudget {
  const { reservedForReply } = refused;
  const drift = Math.max(1, (told.promptTokens ?? promptTokens) / promptTokens);
  const forPrompt = Math.floor(Math.max(0, told.limitTokens - reservedForReply) / drift);
  const contextLimit = Math.min(told.limitTokens, refused.contextLimit, forPrompt + reservedForReply);
  const margin = Math.ceil(contextLimit * TOLD_MARGIN);
  const budgetTokens = Math.max(0, contextLimit - reservedForReply - margin);
  return { contextLimit, reservedForReply, margin, budgetTokens };
}

/** Tokens of a window that stay free because a count may be wrong: none for exact profiles. */
export function marginFor(contextLimit: number, profile: Pick<Profile, "approximate">): number {
  return profile.approximate ? Math.ceil(contextLimit * APPROXIMATE_MARGIN) : 0;
}

function resolveContextLimit(settings: Pick<AssemblySettings, "budget" | "model" | "modelFacts">): number {
  const known = settings.modelFacts.contextLimit;
  const requested = settings.budget.contextLimit;
  if (requested !== undefined) {
    requireTokens("/budget/contextLimit", requested, known ?? LARGEST_WINDOW, 2);
    return requested;
  }
  if (known !== null) return known;
  throw new AssemblyInputError(
    "MODEL_UNKNOWN",
    "/budget/contextLimit",
    `The context window of model "${settings.model}" is not known.`,
    "Give budget.contextLimit, or set the window in the provider's model list.",
  );
}

function requireTokens(pointer: string, value: unknown, largest: number, smallest = 1): void {
  const fits = typeof value === "number" && Number.isSafeInteger(value) && value >= smallest && value <= largest;
  if (fits) return;
  throw new AssemblyInputError(
    "VALIDATION_FAILED",
    pointer,
    `${pointer} must be a whole number of tokens from ${smallest} to ${largest}; it is ${JSON.stringify(value) ?? "unset"}.`,
    `Choose a value from ${smallest} to ${largest}, or leave it out for the default.`,
  );
}

function defaultReserve(contextLimit: number, maxOutputTokens: number | null): number {
  const share = Math.max(SMALLEST_DEFAULT_RESERVE, Math.floor(contextLimit / 8));
  const capped = Math.min(share, LARGEST_DEFAULT_RESERVE, maxOutputTokens ?? LARGEST_DEFAULT_RESERVE);
  return Math.max(1, Math.min(capped, Math.floor(contextLimit / 2)));
}
