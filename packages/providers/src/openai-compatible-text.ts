import { createOpenAiEndpoint } from "./openai-endpoint.ts";
import type { OpenAiCompatibleOptions } from "./openai-post.ts";
import type { Provider } from "./provider.ts";

/**
 * Any server that speaks `POST {baseUrl}/completions`, as servers of local models do. It takes the rendered prompt:
 * `resolveSettings` gives tenants of this kind text mode.
 */
export function createOpenAiCompatibleText(options: OpenAiCompatibleOptions = {}): Provider {
  return createOpenAiEndpoint({ kind: "openai-compatible-text", path: "/completions" }, options);
}
