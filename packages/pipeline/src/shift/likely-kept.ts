import type { Assembly } from "../assembly.ts";
import { countBlock } from "../stages/tokenize.ts";
import { protect } from "./protection.ts";

/**
 * Ids of the stored messages that will stay unless memories take more than their share: what is protected, and the
 * newest history that fits beside everything else. `shift` settles the few messages at the border afterwards.
 */
export function likelyKeptMessageIds(
  assembly: Pick<Assembly, "blocks" | "counter" | "budget" | "overheadTokens" | "input">,
): ReadonlySet<string> {
  const { settings } = assembly.input;
  const { groups, isProtected } = protect(assembly.blocks);
  const cost = (group: (typeof groups)[number]): number =>
    group.members.reduce((sum, block) => sum + countBlock(assembly.counter, block), 0);
  const isHistory = (group: (typeof groups)[number]): boolean => group.members[0].source === "history";
  const examplesYield = settings.strategyOptions["examples"] !== "last";
  let space = assembly.budget.budgetTokens * (1 - settings.memory.budgetPercent / 100) - assembly.overheadTokens;
  const kept = groups.filter((group) => isProtected(group));
  for (const group of groups) {
    const yields = isProtected(group)
      ? false
      : isHistory(group) || (examplesYield && group.members[0].source === "example");
    if (!yields) space -= cost(group);
  }
  for (const group of groups.filter((candidate) => isHistory(candidate) && !isProtected(candidate)).reverse()) {
    space -= cost(group);
    if (space < 0) break;
    kept.push(group);
  }
  const refIds = kept.flatMap((group) => group.members.map((block) => (block.seq === null ? null : block.refId)));
  return new Set(refIds.filter((refId) => refId !== null));
}
