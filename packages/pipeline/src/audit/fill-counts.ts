import type { AuditBlock, WireFacts } from "../prompt.ts";
import { createCounter, type Counter } from "../tokens/counter.ts";
import type { Profile } from "../tokens/profile.ts";
import type { Wire } from "../wire/wire.ts";
import { PLAIN_CHAT, wireOfFacts } from "../wire/wires.ts";

/**
 * Counts the rows that were left out uncounted, with the profile (`null` = it is not known any more) and the wire the
 * audit names (default: plain chat). Rows that have a count stay as they are; without a profile all do.
 */
export function fillMissingCounts(
  blocks: readonly AuditBlock[],
  profile: Profile | null,
  facts: WireFacts = PLAIN_CHAT,
): readonly AuditBlock[] {
  if (profile === null || blocks.every((block) => block.tokens !== null)) return blocks;
  const [counter, wire] = [createCounter(profile), wireOfFacts(facts)];
  return blocks.map((block) => (block.tokens === null ? counted(block, counter, wire) : block));
}

function counted(block: AuditBlock, counter: Counter, wire: Wire): AuditBlock {
  const { tokensUpperBound: _bound, ...row } = block;
  const { role, content = "", name, toolCalls = [], toolCallId = null } = block;
  return { ...row, tokens: wire.countBlock(counter, { role, content, name, toolCalls, toolCallId }) };
}
