import type { After } from "../clock.ts";
import type { ExcludedReason } from "../reasons.ts";
import type { SummaryMessage } from "./context-message.ts";
import type { ContextStrategyRegistry } from "./registry.ts";
import type { Summariser } from "./summary/summariser.ts";

/** The whole cost of one message in tokens, framing included: a whole number, 0 or more. */
export type CountTokens<M> = (message: M) => number | Promise<number>;

/** How `shiftContext` is to go about it; everything may be left out. */
export interface ShiftOptions<M> {
  /** Default `truncate`. */
  readonly strategy?: string;
  readonly strategyOptions?: { readonly [key: string]: unknown };
  /** Cost beside the messages: priming, tool schemas. Default 0. */
  readonly overheadTokens?: number;
  /** 0..1: once over budget, history leaves until the total is this share of it. Default off. */
  readonly lowWater?: number;
  /** With `lowWater`: id of the oldest history message kept last time. While all from it on fits, the cut stays there. */
  readonly anchorId?: string | null;
  /**
   * 0..1, for `vector-recall`: by message, or by id. Default: a block's own `relevance`, else words and spelling shared
   * with what was said last.
   */
  readonly relevance?: ((message: M) => number | null) | ReadonlyMap<string, number>;
  /** Ids of system messages that may leave, or what tells them; the same as `meta.optional`. */
  readonly optional?: ((message: M) => boolean) | readonly string[];
  readonly signal?: AbortSignal;
  /** Where strategies are looked up. Default: the built-in ones. */
  readonly registry?: ContextStrategyRegistry;
  /** Writes summaries for `compress`. */
  readonly summariser?: Summariser;
  /** The whole window, for `compress`. Default: the budget. */
  readonly contextLimit?: number;
  /** Timer that bounds asynchronous strategies to two seconds. Default: none, only `signal` ends them. */
  readonly after?: After;
}

/** What stays, in its order, and what does not, in leaving order; every message given is in exactly one of both. */
export interface ShiftOutcome<M> {
  /** The caller's own objects, but for summaries that were put in and messages that were shortened. */
  readonly kept: readonly (M | SummaryMessage)[];
  readonly excluded: readonly {
    readonly message: M;
    readonly reason: ExcludedReason;
    readonly groupId: string | null;
  }[];
  /** Shortened messages; the replacement is the one in `kept`. */
  readonly truncated: readonly {
    readonly message: M;
    readonly replacement: M;
    readonly originalTokens: number;
    readonly tokens: number;
  }[];
}
