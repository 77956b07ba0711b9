import type { Block, LeftOutBlock } from "../block.ts";
import type { Conversation } from "../conversation.ts";
import { chooseMemories, compareText, rankMemories, type MemoryVerdict } from "../memory/choose.ts";
import { newestText } from "../memory/recent-text.ts";
import { missingVectors } from "../memory/missing-vectors.ts";
import { relevances } from "../memory/relevance.ts";
import type { RecallVectors } from "../memory/vectors.ts";
import type { Diagnostic } from "../reasons.ts";
import type { AssemblySettings } from "../settings.ts";

const LABEL_CHARACTERS = 60;

/**
 * Decides every memory: included (`mem:<memory id>`) or left out, once each, with its rank and its scores by words and by
 * meaning. The question is what the user and the assistant said last in `recent` (oldest first). Blocks come out oldest
 * first. `capTokens` bounds all of them together, but pinned ones are never refused for it. A memory distilled from one of
 * `promptMessageIds` stays out unless pinned.
 */
export function memory(input: {
  readonly conversation: Conversation;
  readonly settings: AssemblySettings;
  readonly recent: readonly Block[];
  /** Vectors of the memories and of the question; absent = the built-in ones. */
  readonly recall?: RecallVectors | null | undefined;
  readonly promptMessageIds: ReadonlySet<string>;
  readonly budgetTokens: number;
  readonly countText: (text: string) => number;
}): MemoryStageResult {
  const { memories } = input.conversation;
  const { budgetPercent, topK, minimumScore } = input.settings.memory;
  const percent = Math.min(100, Math.max(0, budgetPercent));
  const capTokens = Math.round((percent * Math.max(0, input.budgetTokens)) / 100);
  const queries = [newestText(input.recent, "user"), newestText(input.recent, "assistant")];
  const found = relevances(memories, queries, { recall: input.recall, minimumShare: minimumScore });
  const verdicts = chooseMemories(rankMemories(memories, found.each), {
    minimumScore,
    topK,
    capTokens,
    promptMessageIds: input.promptMessageIds,
    countText: input.countText,
  });
  return {
    blocks: includedBlocks(verdicts),
    leftOut: leftOutBlocks(verdicts),
    capTokens,
    diagnostics: missingVectors("memory", memories.length, found),
  };
}

interface MemoryStageResult {
  readonly blocks: readonly Block[];
  readonly leftOut: readonly LeftOutBlock[];
  readonly capTokens: number;
  readonly diagnostics: readonly Diagnostic[];
}

function includedBlocks(verdicts: readonly MemoryVerdict[]): readonly Block[] {
  return verdicts
    .filter((verdict) => verdict.included)
    .sort((a, b) => compareText(a.memory.createdAt, b.memory.createdAt) || compareText(a.memory.id, b.memory.id))
    .map((verdict) => ({
      ...memoryBlock(verdict, `mem:${verdict.memory.id}`),
      stage: "memory",
      reason: verdict.reason,
      reasonDetail: verdict.detail,
    }));
}

function leftOutBlocks(verdicts: readonly MemoryVerdict[]): readonly LeftOutBlock[] {
  const taken = new Map<string, number>();
  const out = verdicts.filter((verdict) => !verdict.included);
  for (const {
    included,
    memory: { id },
  } of verdicts)
    if (included) taken.set(id, 1);
  return out.map((verdict) => {
    const { id } = verdict.memory;
    const time = (taken.get(id) ?? 0) + 1;
    taken.set(id, time);
    // An id given twice still makes two rows, and block ids are unique.
    const blockId = time === 1 ? `mem:${id}` : `mem:${id}#${time}`;
    const { reason, detail, tokens } = verdict;
    return { block: memoryBlock(verdict, blockId), stage: "memory", reason, reasonDetail: detail, tokens };
  });
}

function memoryBlock(
  { memory: { id, content, pinned }, relevance }: MemoryVerdict,
  blockId: string,
): LeftOutBlock["block"] {
  const text = content.trim();
  return {
    id: blockId,
    source: "memory",
    role: "system",
    content: text,
    name: null,
    toolCalls: [],
    toolCallId: null,
    pinned,
    required: false,
    relevance: relevance.score,
    refId: id,
    label: label(text),
    seq: null,
    groupId: null,
  };
}

function label(text: string): string {
  const characters = Array.from(text.slice(0, 4 * LABEL_CHARACTERS).replaceAll(/\s+/g, " "));
  return characters.length > LABEL_CHARACTERS
    ? `${characters.slice(0, LABEL_CHARACTERS - 1).join("")}…`
    : characters.join("");
}
