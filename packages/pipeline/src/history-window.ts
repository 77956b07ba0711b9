import { resolveBudget } from "./budget.ts";
import type { ChatMessage, Conversation } from "./conversation.ts";
import { MAX_SCAN_CHARACTERS, MAX_SCAN_DEPTH } from "./lorebook/scan-text.ts";
import type { AssemblySettings } from "./settings.ts";
import { protect } from "./shift/protection.ts";
import { isBuiltIn, resolveStrategy, type ContextStrategyRegistry } from "./shift/registry.ts";
import type { BuiltInStrategy } from "./shift/strategy.ts";
import { upperBoundTokens } from "./shift/token-bound.ts";
import { select } from "./stages/select.ts";
import { COUNT_AHEAD_BYTES, countBlock } from "./stages/tokenize.ts";
import { createCounter } from "./tokens/counter.ts";
import type { Profile } from "./tokens/profile.ts";
import { profileFor } from "./tokens/profiles.ts";

/** How much of a long branch an assembly can make use of. */
export interface HistoryWindow {
  /** UTF-8 bytes of the newest messages that are nearly always enough. */
  readonly bytes: number;
  /**
   * Whether the newest messages, oldest first, are enough: what stands before them leaves whatever the strategy does, and
   * nothing looks at it. What is protected, and the rest of its groups, is needed beside them wherever it stands.
   */
  isEnough(newest: readonly ChatMessage[], conversation: Pick<Conversation, "lorebooks">): boolean;
}

/** Text has fewer bytes per token than this in nearly every language; `isEnough` knows when it has more. */
const BYTES_PER_TOKEN = 8;

/**
 * The window of a turn that will be assembled with each of these settings; `null` = a strategy looks at every message.
 * `ownProfile` counts for their model instead of the built-in one.
 * Throws `AssemblyInputError` for settings that cannot be worked with.
 */
export function historyWindow(
  turns: readonly AssemblySettings[],
  strategies?: ContextStrategyRegistry,
  ownProfile?: Profile,
): HistoryWindow | null {
  const needs: Need[] = [];
  for (const settings of turns) {
    const strategy = resolveStrategy(settings.contextStrategy, settings.strategyOptions, strategies);
    if (!isBuiltIn(strategy) || strategy.oldHistory !== "ignored") return null;
    const profile = ownProfile ?? profileFor(settings.model);
    const { budgetTokens } = resolveBudget(settings, profile);
    needs.push({ settings, strategy, profile, budgetTokens });
  }
  const largestBudget = Math.max(0, ...needs.map(({ budgetTokens }) => budgetTokens));
  return {
    bytes: largestBudget * BYTES_PER_TOKEN + COUNT_AHEAD_BYTES,
    isEnough: (newest, { lorebooks }) => needs.every((need) => serves(newest, need, lorebooks.length > 0)),
  };
}

interface Need {
  readonly settings: AssemblySettings;
  readonly strategy: BuiltInStrategy;
  readonly profile: Profile;
  readonly budgetTokens: number;
}

function serves(messages: readonly ChatMessage[], need: Need, scansForLore: boolean): boolean {
  const conversation = { chatId: "", character: null, persona: null, lorebooks: [], memories: [], messages };
  const { blocks } = select({ conversation, settings: need.settings });
  const spoken = blocks.filter((block) => block.role !== "tool" && block.content.trim() !== "");
  // The open turn begins with the last user message, and relevance is asked of what either side said last.
  const hasSaid = (role: string): boolean => spoken.some((block) => block.role === role);
  if (!hasSaid("user") || !hasSaid("assistant")) return false;
  if (scansForLore && spoken.length < MAX_SCAN_DEPTH && unitsOf(spoken) < MAX_SCAN_CHARACTERS) return false;
  return overfills(blocks, need);
}

function unitsOf(blocks: readonly { readonly content: string }[]): number {
  return blocks.reduce((sum, { content }) => sum + content.trim().length, 0);
}

/**
 * Whether optional history overfills the budget, and beyond it reaches back as far as `tokenize` counts. Where blocks do
 * not become messages of their own they may cost a little less than here; that reach is many times the difference.
 */
function overfills(blocks: ReturnType<typeof select>["blocks"], { strategy, profile, budgetTokens }: Need): boolean {
  const { groups, isProtected } = protect(blocks);
  const history = groups.filter(
    (group) =>
      group.members[0].source === "history" && !isProtected(group) && !group.members.some(strategy.leavesAnyway),
  );
  const reaches = (costOf: (block: (typeof blocks)[number]) => number): boolean => {
    let [total, aheadBytes] = [0, COUNT_AHEAD_BYTES];
    for (const { members } of history.toReversed()) {
      if (total > budgetTokens) aheadBytes -= members.reduce((sum, block) => sum + upperBoundTokens(block), 0);
      else total += members.reduce((sum, block) => sum + costOf(block), 0);
      if (aheadBytes < 0) return true;
    }
    return false;
  };
  const { perMessage } = profile.framing;
  // A token never reaches over white space to the next word, so words are fewer than tokens; looking costs next to nothing.
  if (!profile.approximate && reaches((block) => perMessage + countWords(block.content))) return true;
  const counter = createCounter(profile);
  return reaches((block) => countBlock(counter, block));
}

function countWords(text: string): number {
  let words = 0;
  let inWord = false;
  for (let index = 0; index < text.length; index += 1) {
    const isSpace = text.charCodeAt(index) <= 32;
    if (!isSpace && !inWord) words += 1;
    inWord = !isSpace;
  }
  return words;
}
