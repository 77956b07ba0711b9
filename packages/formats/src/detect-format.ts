import { isPng } from "./cards/png-chunks.ts";
import { jsonDepth } from "./json/json-depth.ts";
import { isRecord, ownValue, type JsonRecord } from "./json/record.ts";
import { IMPORT_LIMITS } from "./limits.ts";

export const IMPORT_FORMATS = ["card-png", "card-json", "lorebook-json", "chat-jsonl"] as const;
/** The files that can be imported; each has its reader. */
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

/** Lines looked at before a file is no chat: a broken header must not hide the messages behind it. */
const PROBED_LINES = 20;
/** A longer line is passed over: the next ones tell as much, and a look must stay cheap. */
const PROBED_LINE_BYTES = 1024 * 1024;
const FLAT_CARD_FIELDS = [
  "description",
  "personality",
  "scenario",
  "first_mes",
  "mes_example",
  "char_persona",
  "char_greeting",
];

/**
 * What a file is, by its content; `null` when it is none of these. The name decides only between readers that would
 * refuse the file anyway, so that the refusal names the fault (`.jsonl`, `.png`, and any text that begins as JSON). Never
 * throws.
 */
export function detectFormat(bytes: Uint8Array, fileName?: string): ImportFormat | null {
  if (isPng(bytes)) return "card-png";
  const chat = probeLines(bytes);
  if (chat) return "chat-jsonl";
  const document = parsed(bytes, IMPORT_LIMITS.jsonBytes);
  return isRecord(document) ? formatOf(document) : formatByName(bytes, fileName ?? "");
}

function formatOf(document: JsonRecord): ImportFormat | null {
  const spec = ownValue(document, "spec");
  if (spec === "lorebook_v3") return "lorebook-json";
  if (typeof spec === "string" && isRecord(ownValue(document, "data"))) return "card-json";
  if (isLorebook(document)) return "lorebook-json";
  return typeof spec === "string" || isFlatCard(document) ? "card-json" : null;
}

/** Foreign lorebooks count too: their reader says which application wrote them. */
function isLorebook(document: JsonRecord): boolean {
  const entries = ownValue(document, "entries");
  return isRecord(entries) || Array.isArray(entries) || ownValue(document, "type") === "risu";
}

/** A name alone is no card: presets and books of every kind have one too. */
function isFlatCard(document: JsonRecord): boolean {
  const named = ["name", "char_name"].some((key) => typeof ownValue(document, key) === "string");
  return named && FLAT_CARD_FIELDS.some((key) => Object.hasOwn(document, key));
}

function probeLines(bytes: Uint8Array): boolean {
  let start = 0;
  for (let probed = 0; probed < PROBED_LINES && start < bytes.length; probed += 1) {
    const feed = bytes.indexOf(0x0a, start);
    const end = feed === -1 ? bytes.length : feed;
    if (isChatLine(parsed(bytes.subarray(start, end), PROBED_LINE_BYTES))) return true;
    start = end + 1;
  }
  return false;
}

function isChatLine(value: unknown): boolean {
  if (!isRecord(value) || Object.hasOwn(value, "spec")) return false;
  return ["mes", "chat_metadata", "user_name"].some((key) => Object.hasOwn(value, key));
}

function parsed(bytes: Uint8Array, most: number): unknown {
  if (bytes.length > most) return undefined;
  const text = new TextDecoder().decode(bytes);
  if (jsonDepth(text, IMPORT_LIMITS.jsonDepth) > IMPORT_LIMITS.jsonDepth) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function formatByName(bytes: Uint8Array, fileName: string): ImportFormat | null {
  const name = fileName.toLowerCase();
  if (name.endsWith(".jsonl")) return "chat-jsonl";
  if (name.endsWith(".png")) return "card-png";
  const begin = new TextDecoder().decode(bytes.subarray(0, 1_024)).trimStart();
  return begin.startsWith("{") ? "card-json" : null;
}
