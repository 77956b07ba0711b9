import type { LoreEntry, Lorebook } from "../conversation.ts";
import { substitute } from "../macros/substitute.ts";
import type { MacroValues } from "../macros/values.ts";
import { fold, foldingOf, type Folding } from "./folding.ts";
import { readPattern, searchPattern, type Pattern } from "./pattern.ts";
import type { ScanView } from "./scan-text.ts";
import { findWord, type WordRule } from "./word-boundary.ts";
import type { Work } from "./work.ts";

/** A key made ready to be looked for. */
export interface Key {
  /** As the author wrote it. */
  readonly written: string;
  /** Plain text in its folding; also what a pattern that is none falls back to. */
  readonly needle: string;
  readonly folding: Folding;
  readonly words: WordRule;
  readonly pattern: Pattern | null;
  /** The folding of the text a pattern runs on: never lower case, that is the pattern's own flag. */
  readonly patternFolding: Folding;
}

/** An entry's keys; `secondary` is empty when the entry does not use them. */
export interface EntryKeys {
  readonly primary: readonly Key[];
  readonly secondary: readonly Key[];
}

/** What a key's reading depends on besides its entry. */
export interface KeyRules {
  readonly wordBoundaries: Lorebook["wordBoundaries"];
  readonly caseSensitive: boolean;
  readonly matchWholeWords: boolean;
  readonly values: MacroValues;
}

/** What looking for a key came to; `at` is an offset in the view's text of that folding, `null` when it was too dear to find. */
export type KeyOutcome =
  | { readonly outcome: "hit"; readonly at: number | null; readonly folding: Folding }
  | { readonly outcome: "miss" | "rejected" | "timeout" };

const MISS: KeyOutcome = { outcome: "miss" };
const read = new WeakMap<LoreEntry, { readonly signature: string; readonly keys: EntryKeys }>();

/** One text for all that `entryKeys` depends on, to be made once per book. */
export function signatureOf({ wordBoundaries, caseSensitive, matchWholeWords, values }: KeyRules): string {
  return JSON.stringify([wordBoundaries, caseSensitive, matchWholeWords, values.user, values.char]);
}

/** The entry's keys, read once per entry object and signature. Empty keys are passed over. */
export function entryKeys(entry: LoreEntry, rules: KeyRules, signature: string): EntryKeys {
  const known = read.get(entry);
  if (known?.signature === signature) return known.keys;
  const own: KeyRules = {
    ...rules,
    caseSensitive: entry.caseSensitive ?? rules.caseSensitive,
    matchWholeWords: entry.matchWholeWords ?? rules.matchWholeWords,
  };
  const secondary = entry.selective ? entry.secondaryKeys : [];
  const keys = { primary: readKeys(entry.keys, own), secondary: readKeys(secondary, own) };
  read.set(entry, { signature, keys });
  return keys;
}

function readKeys(written: readonly string[], rules: KeyRules): readonly Key[] {
  return written.filter((key) => key !== "").map((key) => readKey(key, rules));
}

function readKey(written: string, rules: KeyRules): Key {
  const folding = foldingOf(rules.wordBoundaries, rules.caseSensitive);
  const patternFolding = foldingOf(rules.wordBoundaries, true);
  const plain = substitute(written, rules.values, { pointer: "/lorebook/keys" }).trim();
  const asPattern = substitute(written, quoted(rules.values), { pointer: "/lorebook/keys" }).trim();
  return {
    written,
    needle: fold(plain, folding),
    folding,
    words: wordRule(plain, rules),
    pattern: readPattern(fold(asPattern, patternFolding)),
    patternFolding,
  };
}

// The reference tests a key of several words as a substring.
function wordRule(key: string, { wordBoundaries, matchWholeWords }: KeyRules): WordRule {
  if (!matchWholeWords) return "none";
  return wordBoundaries === "ascii" && /\s/.test(key) ? "none" : wordBoundaries;
}

// A name inside a pattern stands for itself, whatever it is made of.
function quoted({ user, char }: MacroValues): MacroValues {
  const quote = (name: string) => name.replace(/[\\^$.*+?()[\]{}|/]/g, (character) => `\\${character}`);
  return { user: quote(user), char: quote(char) };
}

/** Looks for the key in what the view shows. Nothing is found in an empty text. */
export function searchKey(key: Key, view: ScanView, work: Work): KeyOutcome {
  if (key.pattern !== null) {
    const text = view.text(key.patternFolding);
    if (text === "") return MISS;
    const found = searchPattern(key.pattern, text, work);
    if (found.outcome === "hit") return { ...found, folding: key.patternFolding };
    if (found.outcome !== "literal") return { outcome: found.outcome };
  }
  const text = view.text(key.folding);
  if (text === "" || !view.mayHold(key.needle, key.folding)) return MISS;
  const at = findWord(text, key.needle, key.words);
  return at < 0 ? MISS : { outcome: "hit", at, folding: key.folding };
}
