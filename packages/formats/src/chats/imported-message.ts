import type { Role, ToolCall } from "@shiftwork/pipeline";

/** One message of a chat file. A row that records tool calls becomes an assistant message and one message per result. */
export interface ImportedMessage {
  /** Line of the file it came from, counted from 1. */
  readonly line: number;
  readonly role: Role;
  readonly name: string | null;
  readonly content: string;
  /** RFC 3339 in UTC. */
  readonly createdAt: string | null;
  /** Shown, never sent and never scanned. */
  readonly hidden: boolean;
  /** All texts of this turn; never empty, and `variants[activeVariant]` is `content`. */
  readonly variants: readonly string[];
  readonly activeVariant: number;
  readonly toolCalls: readonly ToolCall[];
  /** The call a `tool` message answers. */
  readonly toolCallId: string | null;
  /** A narrator's message: role system, yet never protected, so it cannot make a chat undeliverable. */
  readonly optional: boolean;
  /** The original object: of the line, or of the tool invocation. */
  readonly source: unknown;
}
