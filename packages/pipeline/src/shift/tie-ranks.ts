import type { Conversation } from "../conversation.ts";

/**
 * Ranks for blocks of equal relevance, by block id, lowest leaves first: lore by ascending insertion order, memories
 * older first.
 */
export function tieRanks(conversation: Conversation): ReadonlyMap<string, number> {
  const entries = conversation.lorebooks.flatMap((book) => book.entries);
  const lore = entries.map((entry) => [`lore:${entry.id}`, entry.order] as const);
  const byAge = conversation.memories.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
  const memories = byAge.map((memory, rank) => [`mem:${memory.id}`, rank] as const);
  return new Map([...lore, ...memories]);
}
