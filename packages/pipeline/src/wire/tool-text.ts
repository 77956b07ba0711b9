import type { ChatRequestMessage } from "../prompt.ts";

/**
 * What a message says when tools cannot be told apart on the wire: its text, then a line for each call; a result names
 * the call it answers. Depends on the message alone, so that it can be counted before its neighbours are known.
 */
export function textWithTools(message: ChatRequestMessage): string {
  const text = message.content ?? "";
  if (message.role === "tool") return `[Result of tool call ${message.tool_call_id ?? ""}]\n${text}`;
  const calls = (message.tool_calls ?? []).map(
    ({ id, function: called }) => `[Tool call ${id}: ${called.name}(${called.arguments})]`,
  );
  return [...(text === "" ? [] : [text]), ...calls].join("\n");
}
