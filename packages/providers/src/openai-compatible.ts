import { createOpenAiEndpoint } from "./openai-endpoint.ts";
import type { OpenAiCompatibleOptions } from "./openai-post.ts";
import type { Provider } from "./provider.ts";

/** Any server that speaks `POST {baseUrl}/chat/completions`. */
export function createOpenAiCompatible(options: OpenAiCompatibleOptions = {}): Provider {
  return createOpenAiEndpoint({ kind: "openai-compatible", path: "/chat/completions" }, options);
}
