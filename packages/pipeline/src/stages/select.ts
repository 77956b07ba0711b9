import type { Block, LeftOutBlock, ToolCall } from "../block.ts";
import type { ChatMessage, Conversation } from "../conversation.ts";
import { stripReasoning } from "../reasoning.ts";
import type { ExcludedReason, IncludedReason, ReasonDetail } from "../reasons.ts";
import type { AssemblySettings } from "../settings.ts";
import { linkToolCalls } from "../wire/tool-links.ts";

/** What a stage adds to the prompt and what it takes out. */
export interface StageBlocks {
  readonly blocks: readonly Block[];
  readonly leftOut: readonly LeftOutBlock[];
}

interface Candidate {
  /** As it is sent. */
  readonly message: ChatMessage;
  readonly id: string;
  readonly detail: ReasonDetail | null;
}

/**
 * Messages of the branch → history and input blocks. Takes out, whatever the budget: hidden rows, failed partial replies
 * (`disabled`), blank rows without calls, results without a call, surplus results, calls without all their results.
 * A result belongs to the nearest preceding call with its id. The input is the last user message that is sent. System
 * rows are required, unless they are marked optional. Reasoning that leads a stored reply is not sent back to a model:
 * from here on the reply is what comes after it.
 */
export function select(input: {
  readonly conversation: Conversation;
  readonly settings: Pick<AssemblySettings, "action">;
}): StageBlocks {
  const leftOut: LeftOutBlock[] = [];
  const candidates: Candidate[] = [];
  for (const candidate of input.conversation.messages.map(toCandidate)) {
    const unfit = unfitReason(candidate.message);
    if (unfit === null) candidates.push(candidate);
    else leftOut.push(leaveOut(candidate, unfit.reason, null, unfit.detail ?? candidate.detail));
  }
  const links = linkToolCalls(candidates.map((candidate) => candidate.message));
  const sent: { readonly candidate: Candidate; readonly groupId: string | null }[] = [];
  candidates.forEach((candidate, index) => {
    const link = links[index];
    const head = link?.head === undefined || link.head === null ? null : (candidates[link.head]?.id ?? null);
    const groupId = head === null ? null : `calls:${head}`;
    const reason = link?.broken ?? null;
    if (reason === null) sent.push({ candidate, groupId });
    else leftOut.push(leaveOut(candidate, reason, groupId, candidate.detail));
  });
  const inputId = sent.findLast(({ candidate }) => candidate.message.role === "user")?.candidate.id ?? null;
  const lastId = sent.at(-1)?.candidate.id ?? null;
  const continuedId = input.settings.action === "continue" ? lastId : null;
  const blocks = sent.map(({ candidate, groupId }) => toBlock(candidate, groupId, inputId, continuedId));
  return { blocks: shareReasons(blocks), leftOut };
}

function toCandidate(message: ChatMessage): Candidate {
  const toolCalls = message.role === "assistant" ? distinctCalls(message.toolCalls) : [];
  const toolCallId = message.role === "tool" ? message.toolCallId : null;
  const content = message.role === "assistant" ? stripReasoning(message.content) : message.content;
  return {
    message: { ...message, content, toolCalls, toolCallId },
    id: `msg:${message.id ?? "draft"}`,
    detail: content === message.content ? null : { reasoningLeftOut: true },
  };
}

function distinctCalls(calls: readonly ToolCall[]): readonly ToolCall[] {
  return calls.filter((call, index) => calls.findIndex((other) => other.id === call.id) === index);
}

function unfitReason(message: ChatMessage): { reason: ExcludedReason; detail: ReasonDetail | null } | null {
  if (message.hidden) return { reason: "hidden", detail: null };
  if (message.failedPartial) return { reason: "disabled", detail: { failedPartial: true } };
  const blank = message.content.trim() === "";
  const mayBeBlank = message.role === "tool" || message.toolCalls.length > 0;
  return blank && !mayBeBlank ? { reason: "empty", detail: null } : null;
}

function toBlock(
  candidate: Candidate,
  groupId: string | null,
  inputId: string | null,
  continuedId: string | null,
): Block {
  const { message, id } = candidate;
  const isInput = id === inputId;
  const continued = id === continuedId && message.role === "assistant";
  const required = continued || (message.role === "system" && !message.optional);
  return {
    ...describe(candidate),
    source: isInput ? "input" : "history",
    // A reply to be continued must not end in white space: endpoints refuse it.
    content: continued ? message.content.trimEnd() : message.content,
    required,
    groupId,
    stage: "select",
    reason: includedReason(message, isInput, required),
    reasonDetail: candidate.detail,
  };
}

function includedReason(message: ChatMessage, isInput: boolean, required: boolean): IncludedReason {
  if (isInput) return "current_input";
  if (message.pinned) return "pinned";
  return required ? "required" : "history";
}

function describe({ message, id }: Candidate): LeftOutBlock["block"] {
  const block: LeftOutBlock["block"] = {
    id,
    source: "history",
    role: message.role,
    content: message.content,
    name: message.name,
    toolCalls: message.toolCalls,
    toolCallId: message.toolCallId,
    pinned: message.pinned,
    required: false,
    relevance: null,
    refId: message.id,
    label: message.name ?? message.role,
    seq: message.seq,
    groupId: null,
  };
  return message.manualExcluded === true ? { ...block, manualExcluded: true } : block;
}

function leaveOut(
  candidate: Candidate,
  reason: ExcludedReason,
  groupId: string | null,
  reasonDetail: ReasonDetail | null,
): LeftOutBlock {
  return { block: { ...describe(candidate), groupId }, stage: "select", reason, reasonDetail, tokens: null };
}

/** All members of a group carry the reason of its oldest member. */
function shareReasons(blocks: readonly Block[]): readonly Block[] {
  const reasonOf = new Map<string, IncludedReason>();
  return blocks.map((block) => {
    if (block.groupId === null) return block;
    const reason = reasonOf.get(block.groupId) ?? block.reason;
    reasonOf.set(block.groupId, reason);
    return reason === block.reason ? block : { ...block, reason };
  });
}
