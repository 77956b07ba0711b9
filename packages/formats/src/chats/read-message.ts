import { readFlag } from "../json/coerce.ts";
import { isAbsent, isRecord, ownValue, type JsonRecord } from "../json/record.ts";
import type { WarningCollector } from "../warnings.ts";
import type { ImportedMessage } from "./imported-message.ts";
import { readVariants } from "./read-variants.ts";
import { readSendDate } from "./send-date.ts";
import { toolInvocations, toolRows } from "./tool-rows.ts";

/** True for an object that is a message of the format, rather than a header or something foreign. */
export function isMessage(record: JsonRecord): boolean {
  return Object.hasOwn(record, "mes");
}

/** The messages a line stands for: one, or a call with its results. */
export function readMessage(record: JsonRecord, line: number, warnings: WarningCollector): readonly ImportedMessage[] {
  const variants = readVariants(record, warnings);
  const narrated = isNarrated(record);
  const row: ImportedMessage = {
    line,
    role: roleOf(record, narrated, warnings),
    name: readSpeaker(ownValue(record, "name")),
    content: variants.variants[variants.activeVariant] ?? "",
    createdAt: readDate(record, warnings),
    hidden: readFlag(ownValue(record, "is_system"), false, { warnings, path: "/is_system" }),
    ...variants,
    toolCalls: [],
    toolCallId: null,
    optional: narrated,
    source: record,
  };
  const invocations = toolInvocations(record, warnings);
  return invocations.length === 0 ? [row] : toolRows(row, invocations, warnings);
}

/** A speaker's or a header's name; `null` when there is none. */
export function readSpeaker(name: unknown): string | null {
  return typeof name === "string" && name.trim() !== "" ? name : null;
}

function isNarrated(record: JsonRecord): boolean {
  const extra = ownValue(record, "extra");
  return isRecord(extra) && ownValue(extra, "type") === "narrator" && ownValue(record, "is_user") !== true;
}

function roleOf(record: JsonRecord, narrated: boolean, warnings: WarningCollector): ImportedMessage["role"] {
  if (narrated) return "system";
  return readFlag(ownValue(record, "is_user"), false, { warnings, path: "/is_user" }) ? "user" : "assistant";
}

function readDate(record: JsonRecord, warnings: WarningCollector): string | null {
  const value = ownValue(record, "send_date");
  const date = readSendDate(value);
  if (date === null && !isAbsent(value) && value !== "") {
    warnings.add("date_invalid", "The date has no known form and was left out.", { path: "/send_date" });
  }
  return date;
}
