import type { CountedBlock } from "../block.ts";
import type { ResolvedBudget } from "../budget.ts";
import type { ProviderRequest } from "../prompt.ts";
import type { Diagnostic } from "../reasons.ts";
import type { AssemblySettings } from "../settings.ts";
import type { Repaired, Segment, Wire } from "../wire/wire.ts";

/** The request and the blocks in the order they stand in it. */
export interface SerializedPrompt {
  readonly request: ProviderRequest;
  readonly sent: readonly CountedBlock[];
  /** Which block put which text where; `null` = block i is message i. */
  readonly segments: readonly Segment[] | null;
  readonly diagnostics: readonly Diagnostic[];
}

const LISTED_BLOCKS = 20;

/** Blocks → the request body. Each kind of repair gives one diagnostic with its number and the first blocks it touched. */
export function serialize(input: {
  readonly blocks: readonly CountedBlock[];
  readonly wire: Wire;
  readonly settings: Pick<AssemblySettings, "parameters">;
  readonly budget: ResolvedBudget;
  readonly overheadTokens: number;
}): SerializedPrompt {
  const { wire, settings, budget } = input;
  const sent = wire.arrange(input.blocks);
  const promptTokens = sent.reduce((sum, block) => sum + block.tokens, input.overheadTokens);
  const { request, segments, repaired } = wire.write(sent, replyTokens(settings, budget, promptTokens));
  const moved = sent.filter((block, index) => block.role === "tool" && block !== input.blocks[index]);
  return {
    request,
    sent,
    segments,
    diagnostics: diagnose([...repaired, ...moved.map(({ id }) => ({ repair: "results_moved" as const, blockId: id }))]),
  };
}

type Change = Omit<Repaired, "repair"> & { readonly repair: Repaired["repair"] | "results_moved" };

function diagnose(changes: readonly Change[]): readonly Diagnostic[] {
  const found = new Map<string, { readonly blockIds: Set<string>; readonly texts: string[] }>();
  for (const { repair, blockId, text } of changes) {
    const { blockIds, texts } = found.get(repair) ?? { blockIds: new Set(), texts: [] };
    if (blockId !== null) blockIds.add(blockId);
    if (text !== undefined) texts.push(text);
    found.set(repair, { blockIds, texts });
  }
  return [...found].map(([repair, { blockIds, texts }]) => ({
    code: "wire_repair",
    stage: "serialize",
    detail: {
      repair,
      count: Math.max(1, blockIds.size, texts.length),
      blockIds: [...blockIds].slice(0, LISTED_BLOCKS),
      ...(texts.length === 0 ? {} : { texts }),
    },
  }));
}

/** `max_tokens`: what the caller asked for, within 1 and what the window leaves beside the prompt and the margin. */
export function replyTokens(
  settings: Pick<AssemblySettings, "parameters">,
  budget: ResolvedBudget,
  promptTokens: number,
): number {
  const wanted = settings.parameters.maxTokens ?? budget.reservedForReply;
  return Math.max(1, Math.min(wanted, budget.contextLimit - budget.margin - promptTokens));
}
