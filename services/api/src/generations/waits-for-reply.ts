import type { MessageRow } from "@shiftwork/db";

/** Whether a turn can answer the message. One that is not sent would leave the turn to an older one. */
export function waitsForReply({ role, active, hidden, content }: MessageRow): boolean {
  if (!active || hidden) return false;
  return role === "tool" || (role === "user" && content.trim() !== "");
}
