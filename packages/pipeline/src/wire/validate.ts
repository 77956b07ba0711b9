import { ROLES } from "../block.ts";
import type { ChatRequest, ChatRequestMessage } from "../prompt.ts";
import type { PostProcessing } from "../settings.ts";
import { modeProblems } from "./mode-problems.ts";

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Everything a chat-completions endpoint would refuse in `request`: roles, call and result pairs, blank or ill-formed
 * text, names, sizes; under a post-processing mode also what that mode promises. Empty = valid. Each problem names its
 * place (`messages[3]: …`).
 */
export function validateChatRequest(request: ChatRequest, mode: PostProcessing = "none"): readonly string[] {
  const problems: string[] = [];
  if (request.model.trim() === "") problems.push("model: blank");
  if (request.messages.length === 0) problems.push("messages: none");
  if (!Number.isSafeInteger(request.max_tokens) || request.max_tokens < 1) problems.push("max_tokens: not positive");
  request.messages.forEach((message, index) => {
    for (const problem of messageProblems(message)) problems.push(`messages[${index}]: ${problem}`);
  });
  return [...problems, ...pairProblems(request.messages), ...modeProblems(request.messages, mode)];
}

function messageProblems(message: ChatRequestMessage): readonly string[] {
  const problems: string[] = [];
  if (!ROLES.includes(message.role)) problems.push(`unknown role ${message.role}`);
  if (message.name !== undefined && !NAME.test(message.name)) problems.push("name not allowed");
  if (message.tool_calls !== undefined) problems.push(...callProblems(message));
  if (message.tool_call_id !== undefined && message.role !== "tool") problems.push("tool_call_id on another role");
  return [...problems, ...textProblems(message)];
}

function textProblems(message: ChatRequestMessage): readonly string[] {
  if (message.content === null) return message.tool_calls === undefined ? ["null text without calls"] : [];
  if (message.content.trim() === "") return ["blank text"];
  return LONE_SURROGATE.test(message.content) ? ["ill-formed text"] : [];
}

function callProblems(message: ChatRequestMessage): readonly string[] {
  const problems: string[] = [];
  const calls = message.tool_calls ?? [];
  if (message.role !== "assistant") problems.push("calls on another role");
  if (calls.length === 0) problems.push("empty call list");
  if (new Set(calls.map((call) => call.id)).size !== calls.length) problems.push("call id twice");
  for (const call of calls) {
    if (call.id.trim() === "") problems.push("blank call id");
    if (!NAME.test(call.function.name)) problems.push("call name not allowed");
    if (call.function.arguments.trim() === "") problems.push("blank call arguments");
  }
  return problems;
}

/** Directly behind a message with calls stand exactly its results, and no result stands anywhere else. */
function pairProblems(messages: readonly ChatRequestMessage[]): readonly string[] {
  const problems: string[] = [];
  let open = new Set<string>();
  messages.forEach((message, index) => {
    if (message.role === "tool") {
      const id = message.tool_call_id ?? "";
      if (!open.delete(id)) problems.push(`messages[${index}]: result without its call`);
      return;
    }
    if (open.size > 0) problems.push(`messages[${index}]: calls before it lack results`);
    open = new Set((message.tool_calls ?? []).map((call) => call.id));
  });
  if (open.size > 0) problems.push("messages: the last calls lack results");
  return problems;
}
