import { AssemblyInputError } from "../errors.ts";
import { truncate } from "./strategies/truncate.ts";
import type { Strategy } from "./strategy.ts";

/** Every context strategy, by the id a request names. */
export const STRATEGIES = { truncate } as const satisfies Record<string, Strategy>;

/** The strategy of that id, its options checked. Throws `AssemblyInputError`: `STRATEGY_UNKNOWN` or `VALIDATION_FAILED`. */
export function resolveStrategy(id: string, options: { readonly [key: string]: unknown }): Strategy {
  const found = Object.values<Strategy>(STRATEGIES).find((strategy) => strategy.id === id);
  if (found === undefined) {
    const known = Object.keys(STRATEGIES).join(", ");
    throw new AssemblyInputError(
      "STRATEGY_UNKNOWN",
      "/contextStrategy",
      `There is no context strategy "${id}".`,
      `Choose one of: ${known}.`,
    );
  }
  found.checkOptions(options);
  return found;
}
