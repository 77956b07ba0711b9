import type { Role } from "../block.ts";
import type { ChatRequestMessage } from "../prompt.ts";
import type { PostProcessing } from "../settings.ts";
import { toWireMessage, type WireBlock, type WireRepair } from "./openai-chat.ts";
import { speakerOf, speakerOfRole, withSpeaker, type Speakers } from "./speakers.ts";
import { textWithTools } from "./tool-text.ts";
import type { Segment } from "./wire.ts";

/** One block as a message of its own, before it is joined to its neighbours. */
export interface Piece {
  readonly blockId: string | null;
  readonly message: ChatRequestMessage;
  readonly repairs: readonly WireRepair[];
}

/** The user message that `strict` puts before a conversation that an assistant opens. */
export const PLACEHOLDER: ChatRequestMessage = { role: "user", content: "[Start of the conversation]" };

/** Between joined texts. Source: SillyTavern joins by a blank line. */
const JOINT = "\n\n";

/** Whether calls and results stay what they are; otherwise they become text and no tool is offered. */
export function keepsTools(mode: PostProcessing): boolean {
  return mode === "none" || mode.endsWith("_tools");
}

/** A block under a mode: names become prefixes, tool use becomes text unless it is kept. Needs no neighbour. */
export function toPiece(block: WireBlock & { readonly id?: string }, mode: PostProcessing, speakers: Speakers): Piece {
  const blockId = block.id ?? null;
  if (mode === "none") {
    const { message, repairs } = toWireMessage(block);
    return { blockId, message, repairs };
  }
  const { message, repairs } = toWireMessage({ ...block, name: null });
  const whole = keepsTools(mode) ? message : withoutTools(message);
  const speaker = speakerOf(block, speakers) ?? (mode === "single" ? speakerOfRole(block.role, speakers) : null);
  const content = whole.content === null ? null : withSpeaker(whole.content, speaker);
  return { blockId, message: { ...whole, content }, repairs };
}

function withoutTools(message: ChatRequestMessage): ChatRequestMessage {
  return { role: message.role === "tool" ? "user" : message.role, content: textWithTools(message) };
}

/**
 * Pieces → messages: roles as the mode allows them, neighbours of one role joined by a blank line. Results are never
 * joined, and nothing is joined behind calls. A later text's segment begins with the joint.
 */
export function postProcess(
  pieces: readonly Piece[],
  mode: PostProcessing,
): { readonly messages: readonly ChatRequestMessage[]; readonly segments: readonly Segment[] } {
  const messages: ChatRequestMessage[] = [];
  const segments: Segment[] = [];
  for (const { blockId, message } of withRoles(pieces, mode)) {
    const last = messages.at(-1);
    const joins = last !== undefined && canJoin(last, message);
    const before = joins ? (last.content ?? "") : "";
    const content = joinTexts(before, message.content ?? "");
    const joined = { ...message, content: content === "" ? message.content : content };
    if (joins) messages[messages.length - 1] = joined;
    else messages.push(joined);
    const at = { message: messages.length - 1, from: before.length, to: content.length };
    segments.push({ blockId, role: message.role, at });
  }
  return { messages, segments };
}

function canJoin(last: ChatRequestMessage, next: ChatRequestMessage): boolean {
  return last.role === next.role && last.role !== "tool" && last.tool_calls === undefined;
}

function joinTexts(before: string, text: string): string {
  return before === "" || text === "" ? before + text : before + JOINT + text;
}

function withRoles(pieces: readonly Piece[], mode: PostProcessing): readonly Piece[] {
  switch (mode) {
    case "none":
    case "merge":
    case "merge_tools":
      return pieces;
    case "single":
      return pieces.map((piece) => inRole(piece, "user"));
    case "semi":
    case "semi_tools":
      return systemFirst(pieces);
    case "strict":
    case "strict_tools":
      return userFirst(systemFirst(pieces));
  }
}

function inRole(piece: Piece, role: Role): Piece {
  return { ...piece, message: { ...piece.message, role } };
}

function firstSpoken(pieces: readonly Piece[]): number {
  const index = pieces.findIndex(({ message }) => message.role !== "system");
  return index === -1 ? pieces.length : index;
}

function systemFirst(pieces: readonly Piece[]): readonly Piece[] {
  const first = firstSpoken(pieces);
  return pieces.map((piece, index) =>
    index > first && piece.message.role === "system" ? inRole(piece, "user") : piece,
  );
}

function userFirst(pieces: readonly Piece[]): readonly Piece[] {
  const first = firstSpoken(pieces);
  if (pieces[first]?.message.role === "user") return pieces;
  const placeholder: Piece = { blockId: null, message: PLACEHOLDER, repairs: [] };
  return [...pieces.slice(0, first), placeholder, ...pieces.slice(first)];
}
