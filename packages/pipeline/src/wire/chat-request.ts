import type { ChatRequest, ProviderMessage, ProviderRequest } from "../prompt.ts";

/** Tells chat from text completions by the body alone; a text request never holds `messages`. */
export function isChatRequest(request: ProviderRequest): request is ChatRequest {
  return Array.isArray(request["messages"]);
}

/** What the model read, for display: the messages, or the prompt as one entry. */
export function providerMessages(request: ProviderRequest | null): readonly ProviderMessage[] {
  if (request === null) return [];
  return isChatRequest(request) ? request.messages : [{ prompt: request.prompt }];
}
