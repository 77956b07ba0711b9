import type { TextRequest } from "../prompt.ts";
import { MOST_STOP_STRINGS } from "./stop-strings.ts";

/** Everything a text-completions endpoint would refuse in `request`. Empty = valid. */
export function validateTextRequest(request: TextRequest): readonly string[] {
  const problems: string[] = [];
  if (request.model.trim() === "") problems.push("model: blank");
  if (request.prompt.trim() === "") problems.push("prompt: blank");
  if (/\p{Surrogate}/u.test(request.prompt)) problems.push("prompt: ill-formed text");
  if (!Number.isSafeInteger(request.max_tokens) || request.max_tokens < 1) problems.push("max_tokens: not positive");
  if (request.stop.some((text) => text === "")) problems.push("stop: blank");
  if (request.stop.length > MOST_STOP_STRINGS) problems.push(`stop: more than ${MOST_STOP_STRINGS}`);
  return problems;
}
