import type { Usage } from "@shiftwork/db";

/** Both together; what neither names stays unknown. */
export function addUsage(one: Usage, other: Usage): Usage {
  return {
    inputTokens: sum(one.inputTokens, other.inputTokens),
    outputTokens: sum(one.outputTokens, other.outputTokens),
    cacheReadTokens: sum(one.cacheReadTokens, other.cacheReadTokens),
  };
}

function sum(one: number | null, other: number | null): number | null {
  return one === null ? other : one + (other ?? 0);
}
