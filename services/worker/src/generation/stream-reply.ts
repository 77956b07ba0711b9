import type { NewEvent } from "@shiftwork/contracts";
import { NO_USAGE, type Usage } from "@shiftwork/db";
import type { ProviderRequest, ToolCall } from "@shiftwork/pipeline";
import {
  ProviderError,
  type Provider,
  type ProviderTarget,
  type ProviderTimeouts,
  type StreamPart,
} from "@shiftwork/providers";
import type { ReplyWriter } from "../events/reply-writer.ts";

/** What is known beyond the text itself; filled while the reply streams, so that a broken-off one keeps what it has. */
export interface ReplyFacts {
  usage: Usage;
  /** What the requests before this one cost, in the same attempt. */
  spentBefore: Usage;
  finishReason: string | null;
  toolCalls: ToolCall[];
  /** Text, reasoning or a part of a call has come: nothing is sent again any more. */
  hasBegun: boolean;
}

export function noFactsYet(): ReplyFacts {
  return { usage: NO_USAGE, spentBefore: NO_USAGE, finishReason: null, toolCalls: [], hasBegun: false };
}

/** Calls the model and passes on what it streams, part by part. Throws what the provider or the abort threw. */
export async function streamReply(call: {
  readonly provider: Provider;
  readonly target: ProviderTarget;
  readonly request: ProviderRequest;
  readonly timeouts: ProviderTimeouts;
  readonly writer: ReplyWriter;
  readonly facts: ReplyFacts;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { provider, target, request, timeouts, writer, facts, signal } = call;
  let length = 0;
  for await (const part of provider.stream({ target, request, signal, ...timeouts })) {
    signal.throwIfAborted();
    length += lengthOf(part);
    if (length > LONGEST_REPLY) {
      throw new ProviderError("PROVIDER_BAD_RESPONSE", "The reply did not come to an end.", { retryable: false });
    }
    facts.hasBegun ||= part.type === "text" || part.type === "reasoning" || part.type === "tool_call";
    passOn(part, writer, facts);
  }
}

/** Characters of text, reasoning and calls together: beyond any model's longest reply, within what one chat can carry. */
const LONGEST_REPLY = 4_000_000;

function lengthOf(part: StreamPart): number {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.delta.length;
    case "tool_call":
      return part.argumentsDelta.length;
    case "usage":
    case "end":
      return 0;
  }
}

function passOn(part: StreamPart, writer: ReplyWriter, facts: ReplyFacts): void {
  switch (part.type) {
    case "text":
      writer.writeText(storable(part.delta));
      return;
    case "reasoning":
      writer.writeReasoning(storable(part.delta));
      return;
    case "tool_call": {
      const { index } = part;
      const [id, name] = [storable(part.id), storable(part.name)];
      const argumentsDelta = storable(part.argumentsDelta);
      facts.toolCalls[index] = { id, name, arguments: (facts.toolCalls[index]?.arguments ?? "") + argumentsDelta };
      writer.write({ type: "tool.call", data: { index, id, name, argumentsDelta } });
      return;
    }
    case "usage": {
      const { inputTokens, outputTokens, cacheReadTokens } = part;
      facts.usage = { inputTokens, outputTokens, cacheReadTokens };
      const event: NewEvent = { type: "usage.updated", data: { inputTokens, outputTokens } };
      writer.write(event);
      return;
    }
    case "end":
      facts.finishReason = storable(part.finishReason);
  }
}

/** PostgreSQL holds no U+0000, in text or in JSON; replaced before it is streamed, so that both stay the same. */
function storable(text: string): string {
  return text.replaceAll("\u0000", "\uFFFD");
}
