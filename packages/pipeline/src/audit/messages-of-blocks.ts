import type { AuditBlock, ChatRequestMessage, ProviderMessage } from "../prompt.ts";
import { toWireMessage } from "../wire/openai-chat.ts";

/**
 * What the model read, made of the included rows in sent order: the messages, in text mode the one prompt. Equal to the
 * request's own, or the audit is wrong.
 */
export function messagesOfBlocks(blocks: readonly AuditBlock[]): readonly ProviderMessage[] {
  const sent = blocks.filter((block) => block.order !== null).toSorted((a, b) => (a.order ?? 0) - (b.order ?? 0));
  if (sent[0]?.sentAt === undefined) return sent.map((block) => toWireMessage(wireBlock(block)).message);
  if (sent[0].sentAt.message === null) return [{ prompt: joined(sent) }];
  const byMessage = new Map<number | null, AuditBlock[]>();
  for (const block of sent) {
    const index = block.sentAt?.message ?? null;
    byMessage.set(index, [...(byMessage.get(index) ?? []), block]);
  }
  return [...byMessage.values()].map(joinedMessage);
}

function joinedMessage(rows: readonly AuditBlock[]): ChatRequestMessage {
  const calls = rows.flatMap(({ toolCalls = [] }) => toolCalls);
  const result = rows[0]?.toolCallId;
  const text = joined(rows);
  return {
    role: rows[0]?.role ?? "user",
    content: text === "" ? null : text,
    ...(calls.length === 0
      ? {}
      : { tool_calls: calls.map(({ id, ...call }) => ({ id, type: "function" as const, function: call })) }),
    ...(result === undefined ? {} : { tool_call_id: result }),
  };
}

function joined(rows: readonly AuditBlock[]): string {
  return rows.map(({ content = "" }) => content).join("");
}

function wireBlock({ role, content, name, toolCalls, toolCallId }: AuditBlock) {
  return { role, content: content ?? "", name, toolCalls: toolCalls ?? [], toolCallId: toolCallId ?? null };
}
