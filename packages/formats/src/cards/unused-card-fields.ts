import { isEmpty, isRecord, ownValue, pointer, type JsonRecord } from "../json/record.ts";
import { readRecord } from "../json/coerce.ts";
import type { WarningCollector } from "../warnings.ts";
import { CARD_TEXT_FIELDS, spellingsOf } from "./card-fields.ts";
import type { CardDocument } from "./card-spec.ts";

const FEATURE_FIELDS: { readonly [key: string]: string } = {
  group_only_greetings: "Greetings for group chats are not used",
  assets: "Asset files are not imported",
};
const FEATURE_EXTENSIONS: { readonly [key: string]: string } = {
  depth_prompt: "The character note at depth is not sent",
  regex_scripts: "Regex scripts of a card are not run",
  world: "The lorebook bound by name must be imported on its own, unless the card holds it",
};

/** Names what the card holds and no prompt will show; all of it stays in the source. */
export function warnOfUnusedFields(card: CardDocument, warnings: WarningCollector): void {
  const nested = card.fields !== card.root;
  const base = nested ? "/data" : "";
  const extensionsPath = pointer(base, "extensions");
  const extensions = readRecord(ownValue(card.fields, "extensions"), { warnings, path: extensionsPath });
  warnOfFeatures(card.fields, base, FEATURE_FIELDS, warnings);
  warnOfFeatures(extensions, extensionsPath, FEATURE_EXTENSIONS, warnings);
  const used = new Set([...usedNames(card), "extensions", ...Object.keys(FEATURE_FIELDS)]);
  const unused = [
    ...unusedPaths(card.fields, base, used),
    ...unusedPaths(extensions, extensionsPath, new Set(Object.keys(FEATURE_EXTENSIONS))),
    ...(nested ? unusedPaths(card.root, "", new Set([...usedNames(card), "data"])) : []),
  ];
  if (unused.length > 0) {
    warnings.add("kept_unused", `Kept in the source and not used: ${unused.join(", ")}.`);
  }
}

function usedNames(card: CardDocument): readonly string[] {
  const texts = Object.values(CARD_TEXT_FIELDS).flatMap((name) => spellingsOf(name, card.spec));
  return [...texts, "alternate_greetings", "tags", "character_book", "spec", "spec_version"];
}

function warnOfFeatures(
  record: JsonRecord,
  base: string,
  features: { readonly [key: string]: string },
  warnings: WarningCollector,
): void {
  for (const [key, sentence] of Object.entries(features)) {
    if (!isIdle(key, ownValue(record, key))) {
      warnings.add("feature_unsupported", `${sentence}; kept in the source.`, { path: pointer(base, key) });
    }
  }
}

/** A feature that is present and does nothing: a note without text, the default icon as the only asset. */
function isIdle(key: string, value: unknown): boolean {
  if (isEmpty(value)) return true;
  if (key === "depth_prompt") return isRecord(value) && isEmpty(ownValue(value, "prompt"));
  if (key === "assets") return Array.isArray(value) && value.every(isDefaultAsset);
  return false;
}

function isDefaultAsset(asset: unknown): boolean {
  return isRecord(asset) && ownValue(asset, "uri") === "ccdefault:";
}

function unusedPaths(record: JsonRecord, base: string, used: ReadonlySet<string>): readonly string[] {
  return Object.keys(record)
    .filter((key) => !used.has(key) && !isEmpty(record[key]))
    .map((key) => pointer(base, key));
}
