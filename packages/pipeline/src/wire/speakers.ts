import type { MacroValues } from "../macros/values.ts";
import type { WireBlock } from "./openai-chat.ts";

/** The names that a chat's roles stand for. */
export type Speakers = MacroValues;

const LONGEST_NAME = 64;

/** A name that can stand before a text: one line of at most 64 characters, never half of one. */
export function speakerName(name: string): string {
  const line = name
    .replace(/\p{Surrogate}/gu, "\u{FFFD}")
    .replace(/\s+/gu, " ")
    .trim();
  return line
    .slice(0, LONGEST_NAME)
    .replace(/[\uD800-\uDBFF]$/, "")
    .trim();
}

/** Who speaks in a block; example dialogues name their speakers by part. `null` = nobody in particular. */
export function speakerOf(block: Pick<WireBlock, "role" | "name">, speakers: Speakers): string | null {
  if (block.role === "tool" || block.name === null) return null;
  if (block.name === "example_user") return speakerName(speakers.user) || null;
  if (block.name === "example_assistant") return speakerName(speakers.char) || null;
  return speakerName(block.name) || null;
}

/** The name that a role stands for when nobody is named; `null` for system texts and results. */
export function speakerOfRole(role: WireBlock["role"], speakers: Speakers): string | null {
  if (role === "user") return speakerName(speakers.user) || null;
  return role === "assistant" ? speakerName(speakers.char) || null : null;
}

/** `Name: text`, once: a text that begins so already stays as it is, and no text gets no name. */
export function withSpeaker(text: string, speaker: string | null): string {
  return speaker === null || text === "" || text.startsWith(`${speaker}:`) ? text : `${speaker}: ${text}`;
}
