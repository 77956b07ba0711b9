import type { Character } from "@shiftwork/pipeline";
import type { ImportWarning } from "../errors.ts";
import { isAbsent, isRecord, ownValue } from "../json/record.ts";
import { requireWithin } from "../limits.ts";
import { readBook, type BookImport } from "../lorebooks/read-lorebook.ts";
import { collectWarnings, type WarningCollector } from "../warnings.ts";
import { readCardDocument } from "./card-document.ts";
import type { CardDocument, CardSpec } from "./card-spec.ts";
import { findField } from "./find-field.ts";
import { readCharacter } from "./read-character.ts";
import { warnOfUnusedFields } from "./unused-card-fields.ts";

/** A character card, read. */
export interface CardImport {
  readonly character: Omit<Character, "id">;
  /** The embedded book; `null` when there is none or it holds no entry. */
  readonly lorebook: BookImport | null;
  /** The card's JSON document as it stood, every key included (without what `key_dropped` and `text_repaired` name). */
  readonly source: unknown;
  readonly spec: CardSpec;
  /** Everything about the file, the embedded book's warnings included. */
  readonly warnings: readonly ImportWarning[];
}

/**
 * Reads a character card V1, V2, V3 or Pygmalion from a PNG (tEXt, zTXt, iTXt; `ccv3` before `chara`) or a JSON file.
 *
 * @throws ImportError with any reason but `no_messages`.
 */
export function readCard(bytes: Uint8Array): CardImport {
  requireWithin("fileBytes", bytes.length);
  const warnings = collectWarnings();
  const card = readCardDocument(bytes, warnings);
  const character = readCharacter(card, warnings);
  const lorebook = readEmbeddedBook(card, character.name, warnings);
  warnOfUnusedFields(card, warnings);
  return { character, lorebook, source: card.root, spec: card.spec, warnings: warnings.list() };
}

function readEmbeddedBook(card: CardDocument, characterName: string, warnings: WarningCollector): BookImport | null {
  const { value, path } = findField(card, "character_book", warnings);
  if (value === undefined) return null;
  if (isAbsent(value)) {
    warnings.add("value_coerced", "null was read as no lorebook.", { path });
    return null;
  }
  if (!isRecord(value) && !Array.isArray(value)) {
    warnings.add("value_dropped", "A lorebook must be an object; the value is ignored.", { path });
    return null;
  }
  const bookWarnings = collectWarnings();
  const book = readBook(Array.isArray(value) ? { entries: value } : value, path, bookWarnings);
  for (const { code, message, ...place } of book.warnings) {
    warnings.add(code, message, place.path === null ? {} : { path: place.path });
  }
  if (book.entries.length === 0) return null;
  return { ...book, name: book.name === "" ? (boundName(card) ?? characterName) : book.name };
}

/** `extensions.world` is the name the book had where the card was written. */
function boundName(card: CardDocument): string | null {
  const extensions = ownValue(card.fields, "extensions");
  const world = isRecord(extensions) ? ownValue(extensions, "world") : null;
  return typeof world === "string" && world.trim() !== "" ? world : null;
}
