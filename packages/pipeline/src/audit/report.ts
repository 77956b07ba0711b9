import type { Assembly } from "../assembly.ts";
import type { CountedBlock } from "../block.ts";
import { canonicalJson, sha256Hex } from "../hash.ts";
import type { AssemblyReport, AuditBlock, AuditCounts, AuditRange, ChatRequest } from "../prompt.ts";
import type { Diagnostic } from "../reasons.ts";
import { protectedIds } from "../shift/protection.ts";
import { auditBlocks } from "./audit-blocks.ts";
import { collapseRanges } from "./audit-ranges.ts";

/** What came of an assembly, finished or failed: the request and every considered block, in or out, with its reason. */
export function reportAssembly(assembly: Assembly): AssemblyReport {
  const { counter, request, budget } = assembly;
  const included = assembly.blocks.filter((block): block is CountedBlock => block.tokens !== null);
  const rows = auditBlocks({
    included,
    leftOut: assembly.leftOut,
    overheadTokens: assembly.overheadTokens,
    strategy: assembly.strategy.id,
  });
  const { blocks, ranges } = collapseRanges(rows);
  return {
    request,
    error: assembly.error,
    strategy: assembly.strategy.id,
    tokenizer: { profile: counter.profile.id, approximate: counter.profile.approximate },
    budget: {
      ...budget,
      promptTokens: assembly.promptTokens,
      overheadTokens: assembly.overheadTokens,
      caps: assembly.caps,
    },
    blocks,
    ranges,
    counts: countRows(blocks, ranges),
    shiftSteps: assembly.shiftSteps,
    stages: assembly.stages,
    diagnostics: [...assembly.diagnostics, ...approximateCounts(assembly)],
    summary: assembly.summary,
    anchorId: anchorOf(included),
    exact: assembly.summary?.exact !== false,
    // What a placeholder stands in for is not known, and neither is the hash.
    assemblyHash: request === null || assembly.summary?.exact === false ? null : assemblyHash(assembly, request),
    prefixHash: request === null ? null : prefixHash(included, request),
  };
}

function countRows(blocks: readonly AuditBlock[], ranges: readonly AuditRange[]): AuditCounts {
  const left = (isCounted: (reason: string) => boolean): number =>
    blocks.filter((block) => !block.included && isCounted(block.reason)).length +
    ranges.reduce((sum, range) => sum + (isCounted(range.reason) ? range.count : 0), 0);
  return {
    included: blocks.filter((block) => block.order !== null).length,
    excluded: left((reason) => reason !== "summarized"),
    summarised: left((reason) => reason === "summarized"),
    truncated: blocks.filter((block) => block.order !== null && block.originalTokens !== null).length,
  };
}

/** The oldest message of the history that stays without being protected: where the cut is. */
function anchorOf(included: readonly CountedBlock[]): string | null {
  const locked = protectedIds(included);
  return included.find((block) => block.source === "history" && !locked.has(block.id))?.refId ?? null;
}

function approximateCounts({ counter }: Assembly): readonly Diagnostic[] {
  const texts = counter.approximateTexts();
  return texts === 0 ? [] : [{ code: "count_approximate", stage: "tokenize", detail: { texts } }];
}

// No message ids: a preview's draft has none, and its hash must equal that of the generation that follows.
function assemblyHash({ budget, counter, strategy, input }: Assembly, request: ChatRequest): string {
  const { id, version } = counter.profile;
  const options = input.settings.strategyOptions;
  return sha256Hex(
    canonicalJson({ request, budget, profile: { id, version }, strategy: { id: strategy.id, options } }),
  );
}

function prefixHash(included: readonly CountedBlock[], request: ChatRequest): string {
  const firstSpoken = included.findIndex((block) => block.source === "history" || block.source === "input");
  const prefix = firstSpoken === -1 ? request.messages : request.messages.slice(0, firstSpoken);
  return sha256Hex(canonicalJson(prefix));
}
