import { BLOCK_SOURCES, ROLES, type Block, type BlockSource, type Role, type ToolCall } from "../block.ts";
import type { IncludedReason } from "../reasons.ts";

/** A tool call in the OpenAI shape, or flat. */
export interface ContextToolCall {
  readonly id?: string | null;
  readonly name?: string;
  readonly arguments?: unknown;
  readonly function?: { readonly name?: string; readonly arguments?: unknown };
}

/** What `shiftContext` reads of a message; everything may be absent. Both spellings of each tool field are read. */
export interface ContextMessage {
  readonly id?: string | number | null;
  readonly role?: string;
  readonly content?: string | null | readonly unknown[];
  readonly name?: string | null;
  readonly tool_calls?: readonly ContextToolCall[] | null;
  readonly toolCalls?: readonly ContextToolCall[] | null;
  readonly tool_call_id?: string | null;
  readonly toolCallId?: string | null;
  readonly callId?: string | null;
  readonly pinned?: boolean | null;
  readonly meta?: {
    /** A system message that may leave. */
    readonly optional?: boolean;
    /** Left out by the strategy `manual`. */
    readonly manualExcluded?: boolean;
    /** `summary` marks one that an earlier call put in, with the ids it covers. */
    readonly source?: string;
    readonly covers?: readonly string[];
  } | null;
  /** Set = a block of the pipeline; then protection follows the source. */
  readonly source?: string;
  readonly required?: boolean | null;
  readonly relevance?: number | null;
  readonly groupId?: string | null;
  readonly label?: string;
}

/** A message that `summarize` or `compress` put in. Leave `meta` out before it goes to a provider that is strict. */
export interface SummaryMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
  readonly meta: { readonly source: "summary"; readonly optional: true; readonly covers: readonly string[] };
}

/** The block's source, if the message is one. */
export function sourceOf(message: ContextMessage): BlockSource | null {
  const source = message.source ?? message.meta?.source;
  if (source === undefined) return null;
  return BLOCK_SOURCES.find((known) => known === source) ?? null;
}

/** The message's own id as text; `null` = it has none. */
export function ownId({ id }: ContextMessage): string | null {
  return id === undefined || id === null ? null : String(id);
}

/** Whether its role protects it: `system`, and what newer models call `developer`. */
export function isSystem(message: ContextMessage): boolean {
  return message.role === "system" || message.role === "developer";
}

/** Calls with the ids they have; a call without an id stays, and can have no result. */
export function callsOf(message: ContextMessage): readonly ToolCall[] {
  const calls = message.tool_calls ?? message.toolCalls ?? [];
  return calls.map((call) => ({
    id: call.id ?? "",
    name: call.function?.name ?? call.name ?? "",
    arguments: asText(call.function?.arguments ?? call.arguments),
  }));
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** The id of the call that a result answers. */
export function callIdOf(message: ContextMessage): string | null {
  return message.tool_call_id ?? message.toolCallId ?? message.callId ?? null;
}

/** The text of a message: its content, or the texts of its parts and of those inside them. */
function textOf({ content }: Pick<ContextMessage, "content">): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => partText(part) || textOf({ content: insideOf(part) })).join("");
}

function partText(part: unknown): string {
  if (typeof part === "string") return part;
  const { text } = (part ?? {}) as { readonly text?: unknown };
  return typeof text === "string" ? text : "";
}

/** What a part holds itself, as a tool result holds the pictures it gave; `null` = nothing that can be looked into. */
function insideOf(part: unknown): string | readonly unknown[] | null {
  const { content = null } = (part ?? {}) as { readonly content?: unknown };
  return typeof content === "string" || Array.isArray(content) ? content : null;
}

/** Whether the message is text and nothing else, so that it can be shortened. */
export function isPlainText({ content }: ContextMessage): boolean {
  return typeof content === "string" || (Array.isArray(content) && content.every((part) => partText(part) !== ""));
}

/** Parts that are not text, at any depth: images, audio, files. */
export function countOtherParts({ content }: Pick<ContextMessage, "content">): number {
  if (!Array.isArray(content)) return 0;
  return content
    .filter((part) => partText(part) === "")
    .reduce<number>((sum, part) => {
      const inside = insideOf(part);
      return sum + (inside === null ? 1 : countOtherParts({ content: inside }));
    }, 0);
}

/** The same message with another text, in the shape its content had. */
export function withText<M extends ContextMessage>(message: M, text: string): M {
  return { ...message, content: Array.isArray(message.content) ? [{ type: "text", text }] : text };
}

/** What the walk over all messages found out about one. */
export interface Placed {
  readonly id: string;
  readonly index: number;
  readonly isInput: boolean;
  readonly required: boolean;
  readonly groupId: string | null;
}

/** A message as the strategies see it. */
export function toBlock(message: ContextMessage, placed: Placed): Block {
  const source = sourceOf(message) ?? (placed.isInput ? "input" : "history");
  const covers = message.meta?.covers;
  return {
    id: placed.id,
    source,
    role: roleOf(message),
    content: textOf(message),
    name: message.name ?? null,
    toolCalls: callsOf(message),
    toolCallId: callIdOf(message),
    pinned: message.pinned === true,
    required: placed.required,
    relevance: typeof message.relevance === "number" ? message.relevance : null,
    refId: placed.id,
    label: message.label ?? message.name ?? message.role ?? source,
    seq: placed.index,
    groupId: placed.groupId,
    ...(message.meta?.manualExcluded === true ? { manualExcluded: true } : {}),
    stage: "select",
    reason: reasonOf(placed),
    reasonDetail: covers === undefined ? null : { covers },
  };
}

function roleOf(message: ContextMessage): Role {
  if (isSystem(message)) return "system";
  return ROLES.find((role) => role === message.role) ?? (sourceOf(message) === null ? "user" : "system");
}

function reasonOf({ isInput, required }: Placed): IncludedReason {
  if (isInput) return "current_input";
  return required ? "required" : "history";
}
