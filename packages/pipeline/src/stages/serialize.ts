import type { CountedBlock } from "../block.ts";
import type { ResolvedBudget } from "../budget.ts";
import type { ChatRequest } from "../prompt.ts";
import type { Diagnostic } from "../reasons.ts";
import type { AssemblySettings } from "../settings.ts";
import { chatRequest, toWireMessage, type WireRepair } from "../wire/openai-chat.ts";
import { placeResultsBehindCalls } from "../wire/tool-order.ts";

/** The request and the blocks in the order they stand in it: block i is message i. */
export interface SerializedPrompt {
  readonly request: ChatRequest;
  readonly sent: readonly CountedBlock[];
  readonly diagnostics: readonly Diagnostic[];
}

const LISTED_BLOCKS = 20;

/** Blocks → the request body. Each kind of repair gives one diagnostic with its number and the first blocks it touched. */
export function serialize(input: {
  readonly blocks: readonly CountedBlock[];
  readonly settings: Pick<AssemblySettings, "model" | "parameters" | "tools">;
  readonly budget: ResolvedBudget;
  readonly overheadTokens: number;
}): SerializedPrompt {
  const sent = placeResultsBehindCalls(input.blocks);
  const wire = sent.map(toWireMessage);
  const promptTokens = sent.reduce((sum, block) => sum + block.tokens, input.overheadTokens);
  const repaired = new Map<WireRepair | "results_moved", string[]>();
  sent.forEach((block, index) => {
    for (const repair of new Set(wire[index]?.repairs)) note(repaired, repair, block.id);
    if (block !== input.blocks[index] && block.role === "tool") note(repaired, "results_moved", block.id);
  });
  const messages = wire.map(({ message }) => message);
  return {
    request: chatRequest(input.settings, messages, replyTokens(input.settings, input.budget, promptTokens)),
    sent,
    diagnostics: [...repaired].map(([repair, blockIds]) => ({
      code: "wire_repair",
      stage: "serialize",
      detail: { repair, count: blockIds.length, blockIds: blockIds.slice(0, LISTED_BLOCKS) },
    })),
  };
}

function note<K>(found: Map<K, string[]>, key: K, blockId: string): void {
  const known = found.get(key);
  if (known === undefined) found.set(key, [blockId]);
  else known.push(blockId);
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
