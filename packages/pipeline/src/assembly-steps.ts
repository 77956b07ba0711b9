import type { Assembly } from "./assembly.ts";
import type { Block, CountedBlock, LeftOutBlock } from "./block.ts";
import type { TokenBudgetExceeded } from "./errors.ts";
import type { ShiftStep } from "./prompt.ts";
import { largestOf } from "./shift/drop-until-fits.ts";
import { likelyKeptMessageIds } from "./shift/likely-kept.ts";
import type { MeasuredBlock, ShiftContext } from "./shift/strategy.ts";
import { run, type Plan } from "./shift/plan.ts";
import { isBuiltIn } from "./shift/registry.ts";
import { tieRanks } from "./shift/tie-ranks.ts";
import { intercept } from "./stages/intercept.ts";
import { lorebook } from "./stages/lorebook.ts";
import { memory } from "./stages/memory.ts";
import { persona } from "./stages/persona.ts";
import { recount } from "./stages/recount.ts";
import { select } from "./stages/select.ts";
import { replyTokens, serialize } from "./stages/serialize.ts";
import { shift, type ShiftStageResult } from "./stages/shift.ts";
import { template } from "./stages/template.ts";
import { countBlock, tokenize } from "./stages/tokenize.ts";
import type { Counter } from "./tokens/counter.ts";
import { countRequest, verify } from "./stages/verify.ts";

// Each step hands one stage what it needs of the assembly and puts its answer back; the stages know no assembly.

/** Stage `select`. */
export function runSelect(assembly: Assembly): Assembly {
  return extend(assembly, select(assembly.input));
}

/** Stage `persona`. */
export function runPersona(assembly: Assembly): Assembly {
  return extend(assembly, persona(assembly.input));
}

function extend(
  assembly: Assembly,
  added: { readonly blocks: readonly Block[]; readonly leftOut: readonly LeftOutBlock[] },
): Assembly {
  return {
    ...assembly,
    blocks: [...assembly.blocks, ...added.blocks.map((block) => ({ ...block, tokens: null }))],
    leftOut: [...assembly.leftOut, ...added.leftOut.map((entry) => wholeCost(assembly.counter, entry))],
  };
}

// Budgets of lore and memories count text alone; the audit's number is that of the message it would have been.
function wholeCost(counter: Counter, entry: LeftOutBlock): LeftOutBlock {
  return entry.tokens === null ? entry : { ...entry, tokens: countBlock(counter, entry.block) };
}

function branchBlocks(assembly: Assembly): readonly MeasuredBlock[] {
  return assembly.blocks.filter((block) => block.source === "history" || block.source === "input");
}

/** Stage `lorebook`. */
export function runLorebook(assembly: Assembly): Assembly {
  const { conversation, settings } = assembly.input;
  const found = lorebook({
    conversation,
    settings,
    scanned: branchBlocks(assembly),
    budgetTokens: assembly.budget.budgetTokens,
    countText: assembly.counter.countText,
  });
  return { ...extend(assembly, found), caps: { ...assembly.caps, lorebook: found.capTokens } };
}

/** Stage `memory`. */
export function runMemory(assembly: Assembly): Assembly {
  const { conversation, settings } = assembly.input;
  const spoken = branchBlocks(assembly).filter((block) => block.content.trim() !== "");
  const newest = new Set([newestOf(spoken, "user"), newestOf(spoken, "assistant")]);
  const found = memory({
    conversation,
    settings,
    recent: spoken.filter((block) => newest.has(block)),
    recall: assembly.input.recall,
    promptMessageIds: likelyKeptMessageIds(assembly),
    budgetTokens: assembly.budget.budgetTokens,
    countText: assembly.counter.countText,
  });
  return {
    ...extend(assembly, found),
    caps: { ...assembly.caps, memory: found.capTokens },
    diagnostics: [...assembly.diagnostics, ...found.diagnostics],
  };
}

function newestOf(blocks: readonly MeasuredBlock[], role: Block["role"]): MeasuredBlock | undefined {
  return blocks.findLast((block) => block.role === role);
}

/** Stage `template`. */
export function runTemplate(assembly: Assembly): Assembly {
  const ordered = template({ blocks: assembly.blocks });
  return extend({ ...assembly, blocks: [] }, ordered);
}

/** Stage `tokenize`. */
export function runTokenize(assembly: Assembly): Assembly {
  const { blocks, counter, overheadTokens } = assembly;
  return {
    ...assembly,
    blocks: tokenize({ blocks, counter, overheadTokens, ...whatMustBeCounted(assembly) }),
  };
}

/** A strategy that is not known in its parts may keep any message, so everything is counted for it. */
function whatMustBeCounted({ budget, strategy }: Assembly) {
  if (!isBuiltIn(strategy)) return { budgetTokens: Infinity, leavesAnyway: () => false };
  const budgetTokens = strategy.oldHistory === "counted" ? Infinity : budget.budgetTokens;
  return { budgetTokens, leavesAnyway: strategy.leavesAnyway };
}

function shiftInput(assembly: Assembly, budgetTokens: number) {
  const { conversation, settings } = assembly.input;
  return {
    blocks: assembly.blocks,
    budgetTokens,
    overheadTokens: assembly.overheadTokens,
    strategyOptions: settings.strategyOptions,
    tieRanks: tieRanks(conversation),
    strategy: assembly.strategy,
    conversation,
    counter: assembly.counter,
  };
}

function shiftContextOf({ input, counter, budget }: Assembly, signal: AbortSignal): ShiftContext {
  return {
    count: (block) => countBlock(counter, block),
    contextLimit: budget.contextLimit,
    recall: input.recall,
    summariser: input.summariser,
    after: input.clock.after?.bind(input.clock),
    signal,
  };
}

/** Stage `shift`; waits only for strategies and summarisers that make it wait. */
export function runShift(assembly: Assembly, signal: AbortSignal): Assembly | Promise<Assembly> {
  return run(shifted(assembly, signal));
}

function* shifted(assembly: Assembly, signal: AbortSignal): Plan<Assembly> {
  const { strategyOptions } = assembly.input.settings;
  const lowWater = typeof strategyOptions["lowWater"] === "number" ? strategyOptions["lowWater"] : null;
  const input = {
    ...shiftInput(assembly, assembly.budget.budgetTokens),
    lowWater,
    anchorId: assembly.input.anchorId ?? null,
  };
  const result = yield* shift(input, shiftContextOf(assembly, signal));
  const diagnostics = [...assembly.diagnostics, ...result.diagnostics];
  return { ...afterShift(assembly, result), summary: result.summary, diagnostics };
}

/** Stage `intercept`. */
export async function runIntercept(assembly: Assembly, signal: AbortSignal): Promise<Assembly> {
  const { interceptors } = assembly.input;
  if (interceptors.length === 0) return assembly;
  const after = assembly.input.clock.after?.bind(assembly.input.clock);
  const result = await intercept({ blocks: assembly.blocks, interceptors, counter: assembly.counter, after }, signal);
  return {
    ...assembly,
    blocks: tokenize({ ...assembly, blocks: result.blocks, ...whatMustBeCounted(assembly) }),
    leftOut: [...assembly.leftOut, ...result.leftOut],
    diagnostics: [...assembly.diagnostics, ...result.diagnostics],
  };
}

/** Stage `recount`; `verify` repeats it with a lower budget. */
export function runRecount(assembly: Assembly, budgetTokens: number = assembly.budget.budgetTokens): Assembly {
  return afterShift(assembly, recount(shiftInput(assembly, budgetTokens)));
}

function afterShift(assembly: Assembly, result: ShiftStageResult): Assembly {
  return {
    ...assembly,
    blocks: result.kept,
    leftOut: [...assembly.leftOut, ...result.leftOut],
    shiftSteps: numbered([...assembly.shiftSteps, ...result.steps]),
    error: result.exceeded === null ? null : budgetExceeded(assembly, result.exceeded),
  };
}

function numbered(steps: readonly ShiftStep[]): readonly ShiftStep[] {
  return steps.map((step, index) => ({ ...step, step: index + 1 }));
}

function budgetExceeded(
  { budget }: Assembly,
  facts: Pick<TokenBudgetExceeded, "protectedTokens" | "largest">,
): TokenBudgetExceeded {
  const { budgetTokens, contextLimit, reservedForReply } = budget;
  return { code: "TOKEN_BUDGET_EXCEEDED", ...facts, budgetTokens, contextLimit, reservedForReply };
}

/** Stage `serialize`; repeated after a correction, its diagnostics replace those of the round before. */
export function runSerialize(assembly: Assembly): Assembly {
  const { budget, overheadTokens, input, wire } = assembly;
  // After recount every block has its count.
  const blocks = assembly.blocks.filter(isCounted);
  const serialized = serialize({ blocks, wire, settings: input.settings, budget, overheadTokens });
  const earlier = assembly.diagnostics.filter(({ stage }) => stage !== "serialize");
  return {
    ...assembly,
    blocks: serialized.sent,
    request: serialized.request,
    segments: serialized.segments,
    diagnostics: [...earlier, ...serialized.diagnostics],
  };
}

function isCounted(block: MeasuredBlock): block is CountedBlock {
  return block.tokens !== null;
}

/** Stage `verify`: the last count; afterwards `max_tokens` is what the window leaves beside it. */
export function runVerify(assembly: Assembly): Assembly {
  const { budget, counter, input, wire } = assembly;
  const result = verify({
    attempt: assembly,
    budgetTokens: budget.budgetTokens,
    count: (request) => countRequest(counter, request),
    validate: wire.validate,
    again: (attempt, budgetTokens) => {
      const fitted = runRecount(attempt, budgetTokens);
      return fitted.error === null ? runSerialize(fitted) : { ...fitted, request: null };
    },
  });
  const { attempt, promptTokens } = result;
  if (!result.fits || attempt.request === null || promptTokens === null) {
    const facts = { protectedTokens: promptTokens ?? 0, largest: largestOf(attempt.blocks.filter(isCounted)) };
    return { ...attempt, request: null, error: attempt.error ?? budgetExceeded(assembly, facts) };
  }
  const maxTokens = replyTokens(input.settings, budget, promptTokens);
  return { ...attempt, promptTokens, request: { ...attempt.request, max_tokens: maxTokens } };
}
