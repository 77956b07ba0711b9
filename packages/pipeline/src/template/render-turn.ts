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
 * Stop strings, each once, the most important first, for requests that hold only a few: the format's own, what would
 * speak for the user, the openings of other turns, the character's name. Of a sequence that opens a turn each line counts
 * (on a line of its own when the format wraps), of a speaker the name at the beginning of a line; `""` = no name.
 */
export function stopStrings(
  format: InstructFormat,
  speakers: { readonly user: string; readonly character: string },
): readonly string[] {
  const lineStart = format.wrap ? "\n" : "";
  const opening = (role: TurnRole): readonly string[] =>
    format[role].prefix
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => lineStart + line);
  const named = (name: string): readonly string[] => (name === "" ? [] : [`\n${name}:`]);
  const user = [...opening("user"), ...named(speakers.user)];
  const others = [...opening("assistant"), ...opening("system"), ...named(speakers.character)];
  return [...new Set([...format.stop, ...user, ...others])];
}
