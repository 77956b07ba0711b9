import type { LeftOutBlock } from "./block.ts";
import type { Clock } from "./clock.ts";
import { resolveBudget, type ResolvedBudget } from "./budget.ts";
import type { Conversation } from "./conversation.ts";
import type { TokenBudgetExceeded } from "./errors.ts";
import type { Interceptor, ProviderRequest, ShiftStep, StageReport } from "./prompt.ts";
import { macroValues } from "./macros/values.ts";
import type { RecallVectors } from "./memory/vectors.ts";
import type { Diagnostic } from "./reasons.ts";
import type { AssemblySettings } from "./settings.ts";
import { resolveStrategy, type ContextStrategyRegistry } from "./shift/registry.ts";
import type { MeasuredBlock, Strategy } from "./shift/strategy.ts";
import type { Summariser, SummaryFacts } from "./shift/summary/summariser.ts";
import { createCounter, type Counter } from "./tokens/counter.ts";
import type { Profile } from "./tokens/profile.ts";
import { profileFor } from "./tokens/profiles.ts";
import type { WireBlock } from "./wire/openai-chat.ts";
import type { Segment, Wire } from "./wire/wire.ts";
import { wireFor } from "./wire/wires.ts";

/** Everything a prompt depends on. Equal inputs give equal prompts. */
export interface AssemblyInput {
  readonly conversation: Conversation;
  readonly settings: AssemblySettings;
  /** Plugins between `shift` and `recount`; empty by default. */
  readonly interceptors: readonly Interceptor[];
  readonly clock: Clock;
  /** The strategies to choose from; default: the built-in ones. */
  readonly strategies?: ContextStrategyRegistry | undefined;
  /** The oldest history message that the branch's last finished generation kept; `null` or absent = not known. */
  readonly anchorId?: string | null | undefined;
  /** Vectors that memories and lore are recalled by (`recallTexts` names the texts); absent = the built-in ones. */
  readonly recall?: RecallVectors | null | undefined;
  /** Counts for the model; default: the built-in one of its name. */
  readonly profile?: Profile | undefined;
  /** Writes summaries for `compress`; absent = it cannot compress. */
  readonly summariser?: Summariser | null | undefined;
}

/** What one stage hands to the next. Never mutated: a stage answers with a new one. */
export interface Assembly {
  readonly input: AssemblyInput;
  readonly strategy: Strategy;
  readonly counter: Counter;
  /** The shape of the request; it decides what blocks cost. */
  readonly wire: Wire;
  readonly budget: ResolvedBudget;
  /** Everything that no block brings: priming, tool schemas, the opening of a rendered reply. */
  readonly overheadTokens: number;
  /** Most tokens lore and memories may take; 0 until their stage ran. */
  readonly caps: { readonly lorebook: number; readonly memory: number };
  /** What is in the prompt so far; after `template` in prompt order, after `serialize` in sent order. */
  readonly blocks: readonly MeasuredBlock[];
  /** What was considered and is out, in the order it left. */
  readonly leftOut: readonly LeftOutBlock[];
  readonly shiftSteps: readonly ShiftStep[];
  /** The summary that `shift` put in; `null` = none. */
  readonly summary: SummaryFacts | null;
  readonly request: ProviderRequest | null;
  /** Which block put which text where; `null` before `serialize`, and when block i is message i. */
  readonly segments: readonly Segment[] | null;
  /** Counted on the payload by `verify`; `null` before. */
  readonly promptTokens: number | null;
  /** Set = no request may leave and later stages do nothing. */
  readonly error: TokenBudgetExceeded | null;
  readonly diagnostics: readonly Diagnostic[];
  readonly stages: readonly StageReport[];
}

/** An assembly before its first stage. Throws `AssemblyInputError` when the settings cannot be worked with. */
export function startAssembly(input: AssemblyInput): Assembly {
  const { settings, profile = profileFor(settings.model) } = input;
  const budget = resolveBudget(settings, profile);
  const strategy = resolveStrategy(settings.contextStrategy, settings.strategyOptions, input.strategies);
  const wire = wireFor({ settings, speakers: macroValues(input.conversation) });
  const plain = createCounter(profile);
  const counter = { ...plain, countBlock: (block: WireBlock) => wire.countBlock(plain, block) };
  return {
    input,
    strategy,
    counter,
    wire,
    budget,
    overheadTokens: wire.countOverhead(plain),
    caps: { lorebook: 0, memory: 0 },
    blocks: [],
    leftOut: [],
    shiftSteps: [],
    summary: null,
    request: null,
    segments: null,
    promptTokens: null,
    error: null,
    diagnostics: [],
    stages: [],
  };
}
