import type { Block, LeftOutBlock } from "../block.ts";
import type { Conversation, LorePosition } from "../conversation.ts";
import { activate, type Verdict } from "../lorebook/activate.ts";
import { isRequired, loreCap } from "../lorebook/budget.ts";
import { candidates } from "../lorebook/candidates.ts";
import { filterSubject } from "../lorebook/filter.ts";
import { rollPercent } from "../lorebook/roll.ts";
import { scanText } from "../lorebook/scan-text.ts";
import { macroValues } from "../macros/values.ts";
import type { AssemblySettings } from "../settings.ts";

/**
 * Decides every lorebook entry: included (`lore:<entry id>`) or left out, once each, with its reason. Blocks come out in
 * text order, those before the character first; at one position the highest `order` stands last, and of equals the one
 * processed first. `reasonDetail` holds the evidence (`key`, `messageId`, `offset`; `roll`, `probability`) and, for the
 * template, `position` and `order`. `scanned` is oldest first; `capTokens` is what optional lore may cost.
 */
export function lorebook(input: {
  readonly conversation: Conversation;
  readonly settings: AssemblySettings;
  readonly scanned: readonly Block[];
  readonly budgetTokens: number;
  readonly countText: (text: string) => number;
}): { readonly blocks: readonly Block[]; readonly leftOut: readonly LeftOutBlock[]; readonly capTokens: number } {
  const { conversation, settings, countText } = input;
  const values = macroValues(conversation);
  const capTokens = loreCap(settings.lorebook, input.budgetTokens);
  const verdicts = activate({
    candidates: candidates(conversation.lorebooks),
    scan: scanText(input.scanned, { includeNames: settings.lorebook.includeNames, values }),
    subject: filterSubject(settings.action, conversation.character),
    settings: settings.lorebook,
    values,
    capTokens,
    countText,
    roll: ({ book, entry }) => rollPercent(settings.seed, book.id, entry.id),
  });
  return {
    blocks: [...atPosition(verdicts, "before_character"), ...atPosition(verdicts, "after_character")],
    leftOut: verdicts.flatMap((verdict) => (verdict.included ? [] : [leftOutBlock(verdict)])),
    capTokens,
  };
}

function atPosition(verdicts: readonly Verdict[], position: LorePosition): readonly Block[] {
  return verdicts
    .filter((verdict) => verdict.included && verdict.entry.position === position)
    .sort((a, b) => b.entry.order - a.entry.order)
    .reverse()
    .flatMap((verdict) => (verdict.included ? [includedBlock(verdict)] : []));
}

function includedBlock(verdict: Verdict & { readonly included: true }): Block {
  const { position, order } = verdict.entry;
  return {
    ...loreBlock(verdict),
    stage: "lorebook",
    reason: verdict.reason,
    reasonDetail: { ...verdict.detail, position, order },
  };
}

function leftOutBlock(verdict: Verdict & { readonly included: false }): LeftOutBlock {
  const { reason, detail, tokens } = verdict;
  return { block: loreBlock(verdict), stage: "lorebook", reason, reasonDetail: detail, tokens };
}

function loreBlock(verdict: Verdict): LeftOutBlock["block"] {
  const { entry, content } = verdict;
  return {
    id: `lore:${entry.id}`,
    source: "lorebook",
    role: "system",
    content,
    name: null,
    toolCalls: [],
    toolCallId: null,
    pinned: false,
    required: isRequired(verdict),
    relevance: null,
    refId: entry.id,
    label: entry.title.trim() || entry.keys.find((key) => key.trim() !== "") || `Entry ${entry.uid}`,
    seq: null,
    groupId: null,
  };
}
