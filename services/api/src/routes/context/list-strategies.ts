import { ContextStrategyObject, pageOf } from "@shiftwork/contracts";
import { STRATEGIES, type ContextStrategyRegistry } from "@shiftwork/pipeline";
import { endpoint, ok } from "../endpoint.ts";

export const listContextStrategies = endpoint({
  method: "GET",
  path: "/api/v2/context-strategies",
  tag: "Context",
  summary: "Every way to make a prompt fit, built in or from a plugin, and its options",
  scope: "any key",
  result: pageOf(ContextStrategyObject),
  statuses: [200],
  errors: [],
  handle: async ({ plugins: { strategies } }) => {
    const items = strategies.ids().map((id) => strategyObject(strategies, id));
    return ok({ items, nextCursor: null, hasMore: false });
  },
});

/** A plugin may stand in front of a built-in strategy under the same id. */
function strategyObject(strategies: ContextStrategyRegistry, id: string): ContextStrategyObject {
  const found = strategies.find(id);
  const builtIn = Object.values<unknown>(STRATEGIES).includes(found);
  return { object: "context_strategy", id, builtIn, params: { ...(found?.params ?? { type: "object" }) } };
}
