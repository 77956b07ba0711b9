import type { AuditBlock } from "../prompt.ts";
import { countMessage } from "../tokens/counter.ts";
import type { Profile } from "../tokens/profile.ts";
import { PROFILES } from "../tokens/profiles.ts";
import { toWireMessage } from "../wire/openai-chat.ts";

/**
 * Counts the rows that were left out uncounted, with the profile the audit names. Rows that have a count stay as they
 * are; with a profile that is no longer known all do.
 */
export function fillMissingCounts(blocks: readonly AuditBlock[], profileId: string): readonly AuditBlock[] {
  const profile = Object.values<Profile>(PROFILES).find(({ id }) => id === profileId);
  if (profile === undefined) return blocks;
  return blocks.map((block) => (block.tokens === null ? counted(block, profile) : block));
}

function counted(block: AuditBlock, profile: Profile): AuditBlock {
  const { tokensUpperBound: _bound, ...row } = block;
  const { role, content = "", name, toolCalls = [], toolCallId = null } = block;
  const { message } = toWireMessage({ role, content, name, toolCalls, toolCallId });
  return { ...row, tokens: countMessage(profile, message) };
}
