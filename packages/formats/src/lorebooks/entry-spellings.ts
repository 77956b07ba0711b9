import type { Spelling } from "./entry-dialect.ts";

/** How every value of an entry that is read is spelled. */
export const ENTRY_SPELLINGS = {
  keys: { worldInfo: "key", extension: null, book: "keys" },
  secondaryKeys: { worldInfo: "keysecondary", extension: null, book: "secondary_keys" },
  selective: { worldInfo: "selective", extension: null, book: "selective" },
  selectiveLogic: { worldInfo: "selectiveLogic", extension: "selective_logic", book: null },
  title: { worldInfo: "comment", extension: null, book: "comment" },
  name: { worldInfo: "name", extension: null, book: "name" },
  content: { worldInfo: "content", extension: null, book: "content" },
  constant: { worldInfo: "constant", extension: null, book: "constant" },
  enabled: { worldInfo: "enabled", extension: null, book: "enabled" },
  disabled: { worldInfo: "disable", extension: null, book: "disable" },
  order: { worldInfo: "order", extension: null, book: "insertion_order" },
  position: { worldInfo: "position", extension: "position", book: "position" },
  depth: { worldInfo: "depth", extension: "depth", book: null },
  role: { worldInfo: "role", extension: "role", book: null },
  outletName: { worldInfo: "outletName", extension: "outlet_name", book: null },
  probability: { worldInfo: "probability", extension: "probability", book: null },
  useProbability: { worldInfo: "useProbability", extension: "use_probability", book: null },
  scanDepth: { worldInfo: "scanDepth", extension: "scan_depth", book: null },
  caseSensitive: { worldInfo: "caseSensitive", extension: "case_sensitive", book: "case_sensitive" },
  matchWholeWords: { worldInfo: "matchWholeWords", extension: "match_whole_words", book: null },
  ignoreBudget: { worldInfo: "ignoreBudget", extension: "ignore_budget", book: null },
  triggers: { worldInfo: "triggers", extension: "triggers", book: null },
  characterFilter: { worldInfo: "characterFilter", extension: "character_filter", book: null },
} as const satisfies { readonly [field: string]: Spelling };

/** Values that change an activation in their own application and are only kept here, with the words of the warning. */
export const UNSUPPORTED_FEATURES: readonly { readonly label: string; readonly spelling: Spelling }[] = [
  feature("recursion", "excludeRecursion", "exclude_recursion"),
  feature("recursion", "preventRecursion", "prevent_recursion"),
  feature("recursion", "delayUntilRecursion", "delay_until_recursion"),
  feature("inclusion group", "group", "group"),
  feature("inclusion group", "groupOverride", "group_override"),
  feature("inclusion group", "useGroupScoring", "use_group_scoring"),
  feature("timed effect", "sticky", "sticky"),
  feature("timed effect", "cooldown", "cooldown"),
  feature("timed effect", "delay", "delay"),
  feature("vector match", "vectorized", "vectorized"),
  feature("extra scan text", "matchPersonaDescription", "match_persona_description"),
  feature("extra scan text", "matchCharacterDescription", "match_character_description"),
  feature("extra scan text", "matchCharacterPersonality", "match_character_personality"),
  feature("extra scan text", "matchCharacterDepthPrompt", "match_character_depth_prompt"),
  feature("extra scan text", "matchScenario", "match_scenario"),
  feature("extra scan text", "matchCreatorNotes", "match_creator_notes"),
  feature("automation", "automationId", "automation_id"),
  { label: "budget priority", spelling: { worldInfo: "priority", extension: null, book: "priority" } },
];

function feature(label: string, worldInfo: string, extension: string): { label: string; spelling: Spelling } {
  return { label, spelling: { worldInfo, extension, book: null } };
}

/** Identity, and what only an editor shows: nothing is lost when it stays in the source. */
const SILENT_NAMES = ["uid", "id", "extensions", "use_regex", "addMemo", "displayIndex", "display_index"] as const;
const GROUP_WEIGHTS = ["groupWeight", "group_weight"] as const;

/** Every name of an entry or its extensions that is known here, read or not. */
export const KNOWN_ENTRY_NAMES: ReadonlySet<string> = new Set([
  ...SILENT_NAMES,
  ...GROUP_WEIGHTS,
  ...[...Object.values(ENTRY_SPELLINGS), ...UNSUPPORTED_FEATURES.map(({ spelling }) => spelling)].flatMap(
    ({ worldInfo, extension, book }) => [worldInfo, extension, book].flatMap((name) => name ?? []),
  ),
]);
