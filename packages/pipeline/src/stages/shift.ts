import type { CountedBlock, LeftOutBlock, StageName } from "../block.ts";
import type { Conversation } from "../conversation.ts";
import type { ExcludedReason, ReasonDetail } from "../reasons.ts";
import { runStrategy } from "../shift/guard.ts";
import type { Plan } from "../shift/plan.ts";
import type { MeasuredBlock, ShiftContext, ShiftInput, ShiftResult, Strategy } from "../shift/strategy.ts";

/** What a shift gives to the rest of the assembly. */
export interface ShiftStageResult extends Pick<ShiftResult, "steps" | "exceeded"> {
  readonly kept: readonly CountedBlock[];
  readonly leftOut: readonly LeftOutBlock[];
}

/**
 * Makes the blocks fit with the chosen strategy, then takes out memories whose source message stayed: what the model
 * reads in the history it need not read twice.
 */
export function* shift(
  input: ShiftInput & { readonly strategy: Strategy; readonly conversation: Conversation },
  context: ShiftContext,
): Plan<ShiftStageResult & Pick<ShiftResult, "summary" | "diagnostics">> {
  const result = yield* runStrategy(input.strategy, input, context);
  const repeated = repeatedMemories(result.kept, input.conversation);
  const excluded = result.excluded.map(({ block, reason }) =>
    leaveOut(block, "shift", reason, evidenceOf(block, reason)),
  );
  const leftOut = repeated.map((block) => leaveOut(block, "memory", "memory_source_in_prompt"));
  return {
    kept: result.kept.filter((block) => !repeated.includes(block)),
    leftOut: [...leftOut, ...excluded],
    steps: result.steps,
    exceeded: result.exceeded,
    summary: result.summary,
    diagnostics: result.diagnostics,
  };
}

function repeatedMemories(kept: readonly CountedBlock[], conversation: Conversation): readonly CountedBlock[] {
  const sourceOf = new Map(conversation.memories.map((memory) => [memory.id, memory.sourceMessageId]));
  const inPrompt = new Set(kept.filter((block) => block.seq !== null).map((block) => block.refId));
  return kept.filter((block) => {
    if (block.source !== "memory" || block.pinned || block.refId === null) return false;
    const source = sourceOf.get(block.refId) ?? null;
    return source !== null && inPrompt.has(source);
  });
}

/** The record of a block that left: its group and count go with it. */
export function leaveOut(
  block: LeftOutBlock["block"] & { readonly tokens: number | null },
  stage: StageName,
  reason: ExcludedReason,
  reasonDetail: ReasonDetail | null = null,
): LeftOutBlock {
  return { block, stage, reason, reasonDetail, tokens: block.tokens };
}

/** What a block scored explains why it gave way to others. */
function evidenceOf(block: MeasuredBlock, reason: ExcludedReason): ReasonDetail | null {
  if (reason !== "shift_low_relevance" || block.reasonDetail === null) return null;
  const { score, words, meaning } = block.reasonDetail;
  return score === undefined ? null : { score, words: words ?? null, meaning: meaning ?? null };
}
