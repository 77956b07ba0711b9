import { ProviderError, type Provider, type StreamCall, type StreamPart } from "./provider.ts";

/** A reply as one text, with what the provider reported of its cost. */
export interface CompletedText {
  readonly text: string;
  readonly usage: { readonly inputTokens: number | null; readonly outputTokens: number | null };
}

/** Characters of text and reasoning: far beyond any helper's reply that could be used. */
const LONGEST_TEXT = 400_000;

/** Calls a model for a text and waits for the whole of it; reasoning and tool calls are passed over. Throws as `stream`. */
export async function completeText(provider: Provider, call: StreamCall): Promise<CompletedText> {
  let [text, length] = ["", 0];
  let usage: CompletedText["usage"] = { inputTokens: null, outputTokens: null };
  for await (const part of provider.stream(call)) {
    call.signal.throwIfAborted();
    length += lengthOf(part);
    if (length > LONGEST_TEXT) {
      throw new ProviderError("PROVIDER_BAD_RESPONSE", "The reply did not come to an end.", { retryable: false });
    }
    if (part.type === "text") text += part.delta;
    if (part.type === "usage") usage = { inputTokens: part.inputTokens, outputTokens: part.outputTokens };
  }
  return { text, usage };
}

function lengthOf(part: StreamPart): number {
  return part.type === "text" || part.type === "reasoning" ? part.delta.length : 0;
}
