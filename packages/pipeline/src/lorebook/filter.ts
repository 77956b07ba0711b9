import type { Character, LoreEntry } from "../conversation.ts";
import type { ExcludedReason, ReasonDetail } from "../reasons.ts";
import type { Action } from "../settings.ts";

/** Why an entry is out, with the evidence. */
export interface Refusal {
  readonly reason: ExcludedReason;
  readonly detail: ReasonDetail;
}

/** Who the chat is with, ready for comparison. */
export interface FilterSubject {
  readonly action: Action;
  readonly names: ReadonlySet<string>;
  readonly tags: ReadonlySet<string>;
}

/** Names are the character's name, nickname and id, tags its tags; all compared without case. */
export function filterSubject(action: Action, character: Character | null): FilterSubject {
  const names = character === null ? [] : [character.name, character.nickname, character.id];
  return { action, names: foldedSet(names), tags: foldedSet(character?.tags ?? []) };
}

/** Why the entry is out before any text is looked at, or `null`: switched off, another action, another character. */
export function refuse(entry: LoreEntry, subject: FilterSubject): Refusal | null {
  if (!entry.enabled) return { reason: "disabled", detail: {} };
  if (entry.triggers.length > 0 && !entry.triggers.some((trigger) => actionOf(trigger) === subject.action)) {
    return { reason: "trigger_mismatch", detail: { action: subject.action, triggers: entry.triggers } };
  }
  const { exclude, names, tags } = entry.characterFilter;
  if (names.length > 0 && shares(names, subject.names) === exclude) {
    return { reason: "lore_character_filter", detail: { exclude, names } };
  }
  if (tags.length > 0 && shares(tags, subject.tags) === exclude) {
    return { reason: "lore_tag_filter", detail: { exclude, tags } };
  }
  return null;
}

// Imported books call the plain turn "normal".
function actionOf(trigger: string): string {
  return trigger === "normal" ? "reply" : trigger;
}

function shares(wanted: readonly string[], present: ReadonlySet<string>): boolean {
  return wanted.some((name) => present.has(foldName(name)));
}

function foldedSet(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map(foldName).filter((name) => name !== ""));
}

function foldName(name: string): string {
  return name.trim().toLowerCase();
}
