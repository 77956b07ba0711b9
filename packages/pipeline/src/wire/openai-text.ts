import type { TextRequest } from "../prompt.ts";
import type { AssemblySettings } from "../settings.ts";
import { samplers } from "./openai-chat.ts";

/** Parameters of other shapes, or such as put uncounted text beside the prompt or into the reply. */
const NOT_PASSED_ON = ["messages", "tools", "tool_choice", "functions", "suffix", "echo", "best_of"];

/**
 * The body of `POST /completions`, complete: the provider sends it as it is. `stop` is the caller's and the format's
 * stop strings together. `parameters.extra` can add parameters but none of the ones set here.
 */
export function textRequest(
  settings: Pick<AssemblySettings, "model" | "parameters">,
  prompt: string,
  stop: readonly string[],
  maxTokens: number,
): TextRequest {
  const { parameters } = settings;
  const extra = Object.entries(parameters.extra ?? {}).filter(([name]) => !NOT_PASSED_ON.includes(name));
  return {
    ...Object.fromEntries(extra),
    ...samplers(parameters),
    model: settings.model,
    prompt,
    max_tokens: maxTokens,
    stop,
    stream: true,
    stream_options: { include_usage: true },
  };
}
