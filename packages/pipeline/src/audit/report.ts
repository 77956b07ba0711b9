import type { Assembly } from "../assembly.ts";
import type { CountedBlock } from "../block.ts";
import { canonicalJson, sha256Hex } from "../hash.ts";
import type {
  AssemblyReport,
  AuditBlock,
  AuditCounts,
  AuditRange,
  ProviderRequest,
  TokenizerFacts,
} from "../prompt.ts";
import { protectedIds } from "../shift/protection.ts";
import type { Profile } from "../tokens/profile.ts";
import { isChatRequest, providerMessages } from "../wire/chat-request.ts";
import { auditBlocks } from "./audit-blocks.ts";
import { collapseRanges } from "./audit-ranges.ts";

/** What came of an assembly, finished or failed: the request and every considered block, in or out, with its reason. */
export function reportAssembly(assembly: Assembly): AssemblyReport {
  const { counter, request, segments, budget, wire } = assembly;
  const segmented = request === null || segments === null ? null : { request, segments };
  const included = assembly.blocks.filter((block): block is CountedBlock => block.tokens !== null);
  const rows = auditBlocks({
    included,
    segmented,
    leftOut: assembly.leftOut,
    overheadTokens: assembly.overheadTokens,
    strategy: assembly.strategy.id,
  });
  const { blocks, ranges } = collapseRanges(rows, assembly.input.conversation.earlier);
  return {
    request,
    error: assembly.error,
    strategy: assembly.strategy.id,
    wire: wire.facts,
    tokenizer: tokenizerFacts(counter.profile),
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
    diagnostics: assembly.diagnostics,
    summary: assembly.summary,
    anchorId: anchorOf(included),
    exact: assembly.summary?.exact !== false,
    // What a placeholder stands in for is not known, and neither is the hash.
    assemblyHash: request === null || assembly.summary?.exact === false ? null : assemblyHash(assembly, request),
    prefixHash: request === null ? null : prefixHash(blocks, request),
  };
}

function tokenizerFacts({ id, approximate, calibration }: Profile): TokenizerFacts {
  return { profile: id, approximate, ...(calibration && { calibration }) };
}

function countRows(blocks: readonly AuditBlock[], ranges: readonly AuditRange[]): AuditCounts {
  const left = (isCounted: (reason: string) => boolean): number =>
    blocks.filter((block) => !block.included && isCounted(block.reason)).length +
    ranges.reduce((sum, range) => sum + (isCounted(range.reason) ? range.count : 0), 0);
  return {
    included: blocks.filter((block) => block.included && block.source !== "overhead").length,
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

// No message ids: a preview's draft has none, and its hash must equal that of the generation that follows.
function assemblyHash({ budget, counter, strategy, input }: Assembly, request: ProviderRequest): string {
  const { id, version, calibration } = counter.profile;
  const profile = { id, version, ...(calibration && { factor: calibration.factor }) };
  const options = input.settings.strategyOptions;
  return sha256Hex(canonicalJson({ request, budget, profile, strategy: { id: strategy.id, options } }));
}

/** What stands before the first thing that was said; the host's opening of the reply stands behind it. */
function prefixHash(rows: readonly AuditBlock[], request: ProviderRequest): string {
  const sent = rows.filter(({ order }) => order !== null).toSorted((a, b) => (a.order ?? 0) - (b.order ?? 0));
  const spoken = sent.find(({ source }) => source === "history" || source === "input");
  return sha256Hex(canonicalJson(spoken === undefined ? providerMessages(request) : before(spoken, request)));
}

function before({ order, sentAt }: AuditBlock, request: ProviderRequest): readonly unknown[] {
  if (!isChatRequest(request)) return [request.prompt.slice(0, sentAt?.from)];
  if (sentAt === undefined) return request.messages.slice(0, order ?? 0);
  const { message, from } = sentAt;
  const begun = request.messages[message ?? 0]?.content?.slice(0, from) ?? "";
  return [...request.messages.slice(0, message ?? 0), ...(begun === "" ? [] : [begun])];
}
