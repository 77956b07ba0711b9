import type { InstructFormat } from "./instruct-format.ts";

/** The roles a format knows; results of tools are rendered as the user's text. */
export type TurnRole = "system" | "user" | "assistant";

/** One turn as the model reads it: prefix, text, suffix. `open` leaves the suffix out, for a text that goes on. */
export function renderTurn(format: InstructFormat, role: TurnRole, text: string, open = false): string {
  const { prefix, suffix } = format[role];
  const newline = format.wrap ? "\n" : "";
  return `${prefix}${newline}${text}${open ? "" : suffix || newline}`;
}

/** What invites the reply: the opening of the assistant's turn, on a line of its own, with its name if all have names. */
export function openReply(format: InstructFormat, character: string, before: string): string {
  const onNewLine = format.wrap && before !== "" && !before.endsWith("\n") ? "\n" : "";
  const opening = renderTurn(format, "assistant", "", true);
  return `${onNewLine}${opening}${format.names === "always" && character !== "" ? `${character}:` : ""}`;
}

/**
 * Stop strings in order, each once: the format's own, each line of the sequences that open a turn (on a line of its own
 * when the format wraps), and the speakers' names at the beginning of a line.
 */
export function stopStrings(format: InstructFormat, speakers: readonly string[]): readonly string[] {
  const lineStart = format.wrap ? "\n" : "";
  const openings = [format.user, format.assistant, format.system]
    .flatMap(({ prefix }) => prefix.split("\n"))
    .filter((line) => line.trim() !== "")
    .map((line) => lineStart + line);
  const names = speakers.filter((name) => name !== "").map((name) => `\n${name}:`);
  return [...new Set([...format.stop, ...openings, ...names])];
}
