import type { Block } from "../block.ts";
import type { AuditBlock, ChatRequestMessage, ProviderRequest, TextSpan } from "../prompt.ts";
import { isChatRequest } from "../wire/chat-request.ts";
import { toWireMessage, type WireBlock } from "../wire/openai-chat.ts";
import type { Segment } from "../wire/wire.ts";

type SentParts = Pick<AuditBlock, "content" | "toolCalls" | "toolCallId">;

/** What of a wire message stands in an audit row: the text and names as they were sent. */
export function sentParts(message: ChatRequestMessage): SentParts & Pick<AuditBlock, "name"> {
  const calls = message.tool_calls?.map((call) => ({ id: call.id, ...call.function }));
  return {
    content: message.content ?? "",
    name: message.name ?? null,
    ...(calls === undefined ? {} : { toolCalls: calls }),
    ...(message.tool_call_id === undefined ? {} : { toolCallId: message.tool_call_id }),
  };
}

/** The row parts of a block that is a message of its own. */
export function partsOfBlock(block: WireBlock): ReturnType<typeof sentParts> {
  return sentParts(toWireMessage(block).message);
}

/** The row parts of a block that is part of a message or of the prompt; calls stand with the block that made them. */
export function partsOfSegment(
  segment: Segment,
  block: Pick<Block, "toolCalls"> | null,
  request: ProviderRequest,
): SentParts & Pick<AuditBlock, "role" | "sentAt"> {
  const message = messageAt(request, segment.at);
  const { toolCalls, toolCallId } = message === undefined ? {} : sentParts(message);
  return {
    role: segment.role,
    sentAt: segment.at,
    content: textAt(request, segment.at),
    ...(toolCalls === undefined || (block?.toolCalls ?? []).length === 0 ? {} : { toolCalls }),
    ...(toolCallId === undefined ? {} : { toolCallId }),
  };
}

/** The text at a place in the request; `""` where there is none. */
export function textAt(request: ProviderRequest, span: TextSpan): string {
  const whole = isChatRequest(request) ? messageAt(request, span)?.content : request.prompt;
  return typeof whole === "string" ? whole.slice(span.from, span.to) : "";
}

function messageAt(request: ProviderRequest, { message }: TextSpan): ChatRequestMessage | undefined {
  return message !== null && isChatRequest(request) ? request.messages[message] : undefined;
}
