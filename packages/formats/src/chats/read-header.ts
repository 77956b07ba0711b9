import { isAbsent, isEmpty, isRecord, ownValue, pointer, type JsonRecord } from "../json/record.ts";
import type { WarningCollector } from "../warnings.ts";
import { readSpeaker } from "./read-message.ts";
import { readSendDate } from "./send-date.ts";

/** What the first line of a chat file says. */
export interface ChatHeader {
  readonly userName: string | null;
  readonly characterName: string | null;
  readonly createdAt: string | null;
}

const HEADER_KEYS = ["chat_metadata", "user_name", "character_name", "name"];
/** Current files write this word where older ones have the names. */
const PLACEHOLDER = "unused";

const METADATA_FEATURES: { readonly [key: string]: string } = {
  note_prompt: "The author's note is not sent",
  world_info: "The lorebook bound to the chat must be imported on its own",
  timedWorldInfo: "Running timed effects of lore entries are dropped",
  variables: "Chat variables are not set",
  persona: "The persona bound to the chat must be created on its own",
  scenario: "The chat's own scenario is not used",
  mes_example: "The chat's own example dialogues are not used",
  system_prompt: "The chat's own system prompt is not used",
  script_injects: "Injected prompts are not sent",
  attachments: "Attachments of the chat are not imported",
};

/** True for the first object of a file when it describes the chat. */
export function isHeader(record: JsonRecord): boolean {
  return HEADER_KEYS.some((key) => Object.hasOwn(record, key));
}

/** Reads the header and names what it holds and no prompt will show. */
export function readHeader(record: JsonRecord, warnings: WarningCollector): ChatHeader {
  warnOfMetadata(ownValue(record, "chat_metadata"), warnings);
  const created = ownValue(record, "create_date");
  const createdAt = readSendDate(created);
  if (createdAt === null && !isAbsent(created) && created !== "") {
    warnings.add("date_invalid", "The date has no known form and was left out.", { path: "/create_date" });
  }
  return {
    userName: realName(ownValue(record, "user_name")),
    characterName: realName(ownValue(record, "character_name")),
    createdAt,
  };
}

function realName(value: unknown): string | null {
  return value === PLACEHOLDER ? null : readSpeaker(value);
}

function warnOfMetadata(metadata: unknown, warnings: WarningCollector): void {
  if (!isRecord(metadata)) return;
  for (const [key, sentence] of Object.entries(METADATA_FEATURES)) {
    if (!isEmpty(ownValue(metadata, key))) {
      const path = pointer("/chat_metadata", key);
      warnings.add("feature_unsupported", `${sentence}; kept in the metadata.`, { path });
    }
  }
  const unused = Object.keys(metadata).filter(
    (key) => !Object.hasOwn(METADATA_FEATURES, key) && !isEmpty(metadata[key]),
  );
  if (unused.length > 0) {
    warnings.add("kept_unused", `Kept in the metadata and not used: ${unused.join(", ")}.`, { path: "/chat_metadata" });
  }
}
