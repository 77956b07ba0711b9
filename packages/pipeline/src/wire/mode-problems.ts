import type { ChatRequestMessage } from "../prompt.ts";
import type { PostProcessing } from "../settings.ts";
import { keepsTools } from "./post-process.ts";

/** Where messages break the promise of a post-processing mode. */
export function modeProblems(messages: readonly ChatRequestMessage[], mode: PostProcessing): readonly string[] {
  if (mode === "none") return [];
  const problems = messages.flatMap((message, index) => {
    const found = [...joinProblems(message, messages[index - 1]), ...toolProblems(message, mode)];
    if (!mode.startsWith("merge") && index > 0 && message.role === "system") found.push("a later system message");
    return found.map((problem) => `messages[${index}]: ${problem}`);
  });
  return [...problems, ...openingProblems(messages, mode)];
}

function joinProblems(message: ChatRequestMessage, before: ChatRequestMessage | undefined): string[] {
  const problems = message.name === undefined ? [] : ["a name beside the text"];
  if (message.role !== "tool" && before?.role === message.role) problems.push("not joined to its neighbour");
  return problems;
}

function toolProblems(message: ChatRequestMessage, mode: PostProcessing): readonly string[] {
  const isTool = message.role === "tool" || message.tool_calls !== undefined;
  return isTool && !keepsTools(mode) ? ["tool use that should be text"] : [];
}

function openingProblems(messages: readonly ChatRequestMessage[], mode: PostProcessing): readonly string[] {
  if (mode === "single") {
    return messages.length === 1 && messages[0]?.role === "user" ? [] : ["messages: not one user message"];
  }
  if (!mode.startsWith("strict")) return [];
  const opening = messages.find(({ role }) => role !== "system");
  return opening?.role === "user" ? [] : ["messages: no user message first"];
}
