import type { Block, BlockSource, CountedBlock, Role } from "../block.ts";
import type { TokenBudgetExceeded } from "../errors.ts";
import type { ShiftStep } from "../prompt.ts";
import type { RecallVectors } from "../memory/vectors.ts";
import type { Diagnostic, ExcludedReason } from "../reasons.ts";
import type { After } from "../clock.ts";
import type { ParamsSchema } from "./check-options.ts";
import type { Leaving } from "./drop-until-fits.ts";
import { run, type Plan } from "./plan.ts";
import type { SummaryFacts, Summariser } from "./summary/summariser.ts";

/**
 * A block on its way through the assembly. `tokens: null` = not counted: before `tokenize` all are, after it only
 * history so old that it cannot fit. `originalTokens` is set on a block whose text was shortened: its cost before.
 */
export interface MeasuredBlock extends Block {
  readonly tokens: number | null;
  readonly originalTokens?: number;
}

/** A block that a shift left out. */
export interface ShiftedOut {
  readonly block: MeasuredBlock;
  readonly reason: ExcludedReason;
}

/** A block whose text was shortened. */
export interface Truncation {
  readonly block: MeasuredBlock;
  readonly replacement: CountedBlock;
  readonly originalTokens: number;
  readonly tokens: number;
}

export interface ShiftInput {
  /** In prompt order. */
  readonly blocks: readonly MeasuredBlock[];
  /**
   * History before all that is in `blocks`, oldest first, that leaves whatever the strategy does; only a summary can
   * still speak of it. Default none. A host may as well hand such history in `blocks`, without counts.
   */
  readonly older?: readonly MeasuredBlock[];
  readonly budgetTokens: number;
  /** Fixed cost beside the blocks: priming and tool schemas. */
  readonly overheadTokens: number;
  readonly strategyOptions: { readonly [key: string]: unknown };
  /** Breaks ties of relevance within a source, lowest leaves first (`tieRanks`); a block it does not name ranks 0. */
  readonly tieRanks: ReadonlyMap<string, number>;
  /** 0..1: once over budget, history leaves until the total is this share of it. Default off. */
  readonly lowWater?: number | null;
  /** The oldest history message the last turn kept, by `refId` or id. Read with `lowWater` only. */
  readonly anchorId?: string | null;
}

/** What a strategy may ask of its host. */
export interface ShiftContext {
  /** The whole cost of a block; a promise only where the host's own counter gives one. */
  count(block: Block): number | Promise<number>;
  /** The whole window in tokens, the reply's share included. */
  readonly contextLimit: number;
  /** 0..1 for a block, in place of its own `relevance`; `null` = not known. */
  readonly relevance?: ((block: Block) => number | null) | undefined;
  /** Vectors that `vector-recall` finds relevance by where nobody says it; absent = the built-in ones. */
  readonly recall?: RecallVectors | null | undefined;
  /** Writes summaries for `compress`; absent = none can be written. */
  readonly summariser?: Summariser | null | undefined;
  readonly after?: After | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** `kept` in prompt order, `excluded` in leaving order. With `exceeded` set, `kept` is what must stay and does not fit. */
export interface ShiftResult {
  readonly kept: readonly CountedBlock[];
  readonly excluded: readonly ShiftedOut[];
  readonly truncated: readonly Truncation[];
  readonly steps: readonly ShiftStep[];
  readonly exceeded: { readonly protectedTokens: number; readonly largest: TokenBudgetExceeded["largest"] } | null;
  readonly diagnostics: readonly Diagnostic[];
  /** The summary that was made, or taken over; `null` = none. */
  readonly summary: SummaryFacts | null;
}

/** A block as a strategy answers it: a host block by its id, or an addition of source `summary`. */
export interface AnsweredBlock {
  readonly id: string;
  readonly source?: BlockSource | undefined;
  readonly role?: Role | undefined;
  readonly content?: string | undefined;
}

/** What a strategy decided. What it says of host blocks beside their ids is not read. */
export interface StrategyAnswer {
  readonly kept: readonly AnsweredBlock[];
  /** In leaving order; what is in neither list leaves as `strategy_dropped`. */
  readonly excluded?: readonly { readonly block: { readonly id: string }; readonly reason?: ExcludedReason }[];
}

/**
 * A way to make a prompt fit. Deterministic; a promise is bounded in time by the host. A synchronous strategy of third
 * parties cannot be bounded in here: a host that loads one registers a stand-in whose `shift` asks a worker thread
 * (`input` can be cloned; `context.count` is answered over the port) and ends the thread when the signal or time says so.
 */
export interface Strategy {
  readonly id: string;
  /** Of two strategies with one id the higher wins. Default 0. */
  readonly priority?: number;
  /** JSON Schema of `strategyOptions`; options are checked against it before anything runs. */
  readonly params: ParamsSchema;
  shift(input: ShiftInput, context: ShiftContext): StrategyAnswer | Promise<StrategyAnswer>;
}

/** A strategy of the host's own: trusted, and known in its parts. */
export interface BuiltInStrategy extends Strategy {
  /**
   * What it needs of history too old to fit: nothing (`ignored`: it leaves unseen), its text (`uncounted`), or its
   * counts as well (`counted`).
   */
  readonly oldHistory: "ignored" | "uncounted" | "counted";
  /** Whether the block's group leaves even when everything fits. */
  leavesAnyway(block: Pick<Block, "manualExcluded">): boolean;
  /** Who leaves when, without anything that makes new text; the final shift after `intercept` follows it. */
  leavingOrder(input: ShiftInput): readonly Leaving[];
  plan(input: ShiftInput, context: ShiftContext): Plan<ShiftResult>;
}

type Parts = Pick<BuiltInStrategy, "id" | "params" | "oldHistory" | "leavingOrder" | "plan"> &
  Partial<Pick<BuiltInStrategy, "leavesAnyway">>;

/** A built-in strategy from its parts. */
export function builtIn(parts: Parts): BuiltInStrategy {
  return {
    leavesAnyway: () => false,
    ...parts,
    shift: (input, context) => run(parts.plan(input, context)),
  };
}
