import type { MacroValues } from "../macros/values.ts";
import { substitute } from "../macros/substitute.ts";

/** One line of an example dialogue; `name` is set for the user's and the character's own lines only. */
export interface ExampleMessage {
  readonly name: "example_user" | "example_assistant" | null;
  readonly content: string;
}

const UNIT_MARK = /<START>/i;
const USER_LINE = /^\s*(?:\{\{\s*user\s*\}\}|<user>)\s*:/i;
const CHARACTER_LINE = /^\s*(?:\{\{\s*char\s*\}\}|<char>|<bot>)\s*:/i;
// A capitalised name of up to four words: prose such as "She said: no" is not a speaker.
const LITERAL_SPEAKER =
  /^[\p{Lu}\p{Lo}][\p{L}\p{M}\p{N}.'’_-]*(?: [\p{Lu}\p{Lo}][\p{L}\p{M}\p{N}.'’_-]*){0,3}:(?:\s|$)/u;

/**
 * Example dialogues as units (one per `<START>`), each a list of messages. Lines that begin with `{{user}}:` or `{{char}}:`
 * (or the character's own name) change the speaker; any other `Name:` stays literal and belongs to nobody in the chat.
 */
export function exampleUnits(messageExamples: string, values: MacroValues): readonly (readonly ExampleMessage[])[] {
  return messageExamples
    .replaceAll("\r", "")
    .split(UNIT_MARK)
    .map((unit) => exampleMessages(unit, values))
    .filter((messages) => messages.length > 0);
}

interface Draft {
  readonly name: ExampleMessage["name"];
  readonly lines: string[];
}

function exampleMessages(unit: string, values: MacroValues): readonly ExampleMessage[] {
  const drafts: Draft[] = [];
  for (const line of unit.split("\n")) {
    const opened = openMessage(line, values.char);
    if (opened !== null) drafts.push(opened);
    else if (drafts.length > 0) drafts.at(-1)?.lines.push(line);
    else drafts.push({ name: null, lines: [line] });
  }
  return drafts
    .map(({ name, lines }) => ({
      name,
      content: substitute(lines.join("\n").trim(), values, { pointer: "/character/messageExamples" }),
    }))
    .filter((message) => message.content !== "");
}

function openMessage(line: string, characterName: string): Draft | null {
  const user = USER_LINE.exec(line);
  if (user !== null) return { name: "example_user", lines: [line.slice(user[0].length)] };
  const character = CHARACTER_LINE.exec(line);
  if (character !== null) return { name: "example_assistant", lines: [line.slice(character[0].length)] };
  const ownName = `${characterName}:`;
  if (line.startsWith(ownName)) return { name: "example_assistant", lines: [line.slice(ownName.length)] };
  return LITERAL_SPEAKER.test(line) ? { name: null, lines: [line] } : null;
}
