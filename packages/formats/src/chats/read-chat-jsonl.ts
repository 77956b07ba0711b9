import { ImportError, type ImportWarning } from "../errors.ts";
import type { JsonRecord } from "../json/record.ts";
import { requireWithin } from "../limits.ts";
import { collectWarnings, onLine, type WarningCollector } from "../warnings.ts";
import type { ImportedMessage } from "./imported-message.ts";
import { parseLine } from "./parse-line.ts";
import { isHeader, readHeader, type ChatHeader } from "./read-header.ts";
import { isMessage, readMessage } from "./read-message.ts";
import { textLines } from "./text-lines.ts";
import { countUnusedParts, type UnusedParts } from "./unused-message-parts.ts";

/** A chat file, read. */
export interface ChatImport {
  /** From the header, else the first user message's speaker. */
  readonly userName: string | null;
  /** From the header, else the first visible assistant message's speaker. */
  readonly characterName: string | null;
  /** RFC 3339 in UTC: from the header, else the first date of a message. */
  readonly createdAt: string | null;
  /** In the order of the file; never empty. */
  readonly messages: readonly ImportedMessage[];
  /** The header line's object as it stood, `chat_metadata` and unknown keys included; `null` without a header. */
  readonly metadata: unknown;
  readonly warnings: readonly ImportWarning[];
}

/**
 * Reads a SillyTavern chat file, one JSON object per line, of any age. Lines that cannot be read are skipped and listed.
 *
 * @throws ImportError `no_messages` when nothing is left; `limit_exceeded` above `chatFileBytes`, `chatLines` or
 * `chatLineBytes`.
 */
export function readChatJsonl(bytes: Uint8Array): ChatImport {
  requireWithin("chatFileBytes", bytes.length);
  const warnings = collectWarnings();
  const unused = countUnusedParts();
  const file = readLines(bytes, warnings, unused);
  if (file.messages.length === 0) throw noMessages();
  if (file.metadata === null) warnings.add("header_missing", "The file has no header line; names come from messages.");
  unused.report(warnings);
  return {
    userName: file.header?.userName ?? firstSpeaker(file.messages, "user"),
    characterName: file.header?.characterName ?? firstSpeaker(file.messages, "assistant"),
    createdAt: file.header?.createdAt ?? file.messages.find(({ createdAt }) => createdAt !== null)?.createdAt ?? null,
    messages: file.messages,
    metadata: file.metadata,
    warnings: warnings.list(),
  };
}

interface ChatLines {
  readonly header: ChatHeader | null;
  readonly metadata: JsonRecord | null;
  readonly messages: readonly ImportedMessage[];
}

function readLines(bytes: Uint8Array, warnings: WarningCollector, unused: UnusedParts): ChatLines {
  const messages: ImportedMessage[] = [];
  let header: ChatHeader | null = null;
  let metadata: JsonRecord | null = null;
  for (const line of textLines(bytes)) {
    const here = onLine(warnings, line.number);
    const record = parseLine(line, here);
    if (record === null) continue;
    if (isMessage(record)) {
      messages.push(...readMessage(record, line.number, here));
      unused.see(record, line.number);
    } else if (metadata === null && messages.length === 0 && isHeader(record)) {
      header = readHeader(record, here);
      metadata = record;
    } else {
      here.add("line_skipped", "The line is no message (it has no mes) and was skipped.");
    }
  }
  return { header, metadata, messages };
}

function firstSpeaker(messages: readonly ImportedMessage[], role: "user" | "assistant"): string | null {
  return messages.find((message) => message.role === role && !message.hidden && message.name !== null)?.name ?? null;
}

function noMessages(): ImportError {
  const message = "No line of the file is a readable message.";
  return new ImportError("no_messages", message, "Send a chat exported as JSONL, one message with mes per line.");
}
