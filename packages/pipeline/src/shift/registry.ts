import { AssemblyInputError } from "../errors.ts";
import { checkOptions } from "./check-options.ts";
import { compress } from "./strategies/compress.ts";
import { manual } from "./strategies/manual.ts";
import { summarize } from "./strategies/summarize.ts";
import { truncate } from "./strategies/truncate.ts";
import { vectorRecall } from "./strategies/vector-recall.ts";
import type { BuiltInStrategy, Strategy } from "./strategy.ts";

/** Every context strategy of the host, by the id a request names. */
export const STRATEGIES = {
  truncate,
  summarize,
  "vector-recall": vectorRecall,
  manual,
  compress,
} as const satisfies Record<string, BuiltInStrategy>;

/** The strategies a host knows: the built-in ones, and those registered with it. */
export interface ContextStrategyRegistry {
  /**
   * Adds a strategy and answers what takes it out again. Of two with one id the higher `priority` wins (built-in ones
   * have 0, of equals the one that was there first); taking it out brings the other back.
   */
  register(strategy: Strategy): () => void;
  /** `undefined` = nobody registered that id. */
  find(id: string): Strategy | undefined;
  /** Every known id, in order of registration, built-in ones first. */
  ids(): readonly string[];
}

/** A registry with the built-in strategies in it. */
export function createStrategyRegistry(): ContextStrategyRegistry {
  const known: Strategy[] = Object.values(STRATEGIES);
  return {
    register(strategy) {
      // A wrapper of its own, so that taking out one registration never takes out another of the same object.
      const entry = { ...strategy, shift: strategy.shift.bind(strategy) };
      known.push(entry);
      return () => {
        const index = known.indexOf(entry);
        if (index !== -1) known.splice(index, 1);
      };
    },
    find(id) {
      const found = known.filter((strategy) => strategy.id === id);
      return found.toSorted((a, b) => (b.priority ?? 0) - (a.priority ?? 0))[0];
    },
    ids: () => [...new Set(known.map(({ id }) => id))],
  };
}

const builtInOnly = createStrategyRegistry();

/**
 * The strategy of that id, its options checked. Throws `AssemblyInputError`: `STRATEGY_UNKNOWN`, which names the known
 * ids, or `VALIDATION_FAILED` with a pointer to the option.
 */
export function resolveStrategy(
  id: string,
  options: { readonly [key: string]: unknown },
  registry: ContextStrategyRegistry = builtInOnly,
): Strategy {
  const found = registry.find(id);
  if (found === undefined) {
    throw new AssemblyInputError(
      "STRATEGY_UNKNOWN",
      "/contextStrategy",
      `There is no context strategy "${id}".`,
      `Choose one of: ${registry.ids().join(", ")}.`,
    );
  }
  checkOptions(found.params, options);
  return found;
}

/** Whether a strategy is one of the host's own. */
export function isBuiltIn(strategy: Strategy): strategy is BuiltInStrategy {
  return Object.values<Strategy>(STRATEGIES).includes(strategy);
}
