import type { ChatMessage } from "../conversation.ts";

/** How a message takes part in tool use. */
export interface ToolLink {
  /** Index of the message with the calls; `null` for a message outside tool use. */
  readonly head: number | null;
  /** Why the message cannot be sent, whatever the budget; `null` = it can. */
  readonly broken: "orphan_tool_call" | "orphan_tool_result" | "incomplete_tool_call" | null;
}

type LinkedMessage = Pick<ChatMessage, "role" | "toolCalls" | "toolCallId">;

const PLAIN: ToolLink = { head: null, broken: null };

/**
 * Links results to calls: a result belongs to the nearest preceding call with its id, adjacent or not, and a call takes
 * one result. Results without a call, surplus ones, and messages whose calls lack a result are marked broken, with the
 * results they do have. One link per message, in order.
 */
export function linkToolCalls(messages: readonly LinkedMessage[]): readonly ToolLink[] {
  const headOf = resultHeads(messages);
  const answered = new Map<number, number>();
  for (const head of headOf.values()) answered.set(head, (answered.get(head) ?? 0) + 1);
  const brokenHead = (index: number): ToolLink["broken"] => {
    const results = answered.get(index) ?? 0;
    if (results === messages[index]?.toolCalls.length) return null;
    return results === 0 ? "orphan_tool_call" : "incomplete_tool_call";
  };
  return messages.map((message, index) => {
    if (message.role === "tool") {
      const head = headOf.get(index);
      return head === undefined ? { head: null, broken: "orphan_tool_result" } : { head, broken: brokenHead(head) };
    }
    return message.toolCalls.length === 0 ? PLAIN : { head: index, broken: brokenHead(index) };
  });
}

/** For each result that answers an open call: the index of the message with that call. */
function resultHeads(messages: readonly LinkedMessage[]): ReadonlyMap<number, number> {
  const open = new Map<string, number>();
  const headOf = new Map<number, number>();
  messages.forEach((message, index) => {
    for (const call of message.toolCalls) if (call.id.trim() !== "") open.set(call.id, index);
    if (message.role !== "tool" || message.toolCallId === null) return;
    const head = open.get(message.toolCallId);
    if (head === undefined) return;
    headOf.set(index, head);
    open.delete(message.toolCallId);
  });
  return headOf;
}
