import { encodeId, type LorebookBinding, type LorebookObject, type LoreEntryObject } from "@shiftwork/contracts";
import type { BindingRow, LorebookRow, LoreEntryRow } from "@shiftwork/db";

export function lorebookObject(row: LorebookRow): LorebookObject {
  return {
    id: encodeId("lorebook", row.id),
    object: "lorebook",
    name: row.name,
    scanDepth: row.scanDepth,
    budgetTokens: row.budgetTokens,
    wordBoundaries: row.wordBoundaries,
    bindings: row.bindings.map(bindingObject),
    entryCount: row.entryCount,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

function bindingObject({ chatId, personaId, characterId }: BindingRow): LorebookBinding {
  if (chatId !== null) return { chatId: encodeId("chat", chatId) };
  if (personaId !== null) return { personaId: encodeId("persona", personaId) };
  if (characterId !== null) return { characterId: encodeId("character", characterId) };
  return { global: true };
}

export function loreEntryObject({ id, lorebookId, uid, data, createdAt }: LoreEntryRow): LoreEntryObject {
  return {
    id: encodeId("loreEntry", id),
    object: "lore_entry",
    lorebookId: encodeId("lorebook", lorebookId),
    uid,
    title: data.title,
    keys: [...data.keys],
    secondaryKeys: [...data.secondaryKeys],
    selective: data.selective,
    selectiveLogic: data.selectiveLogic,
    content: data.content,
    constant: data.constant,
    enabled: data.enabled,
    required: data.required,
    order: data.order,
    position: data.position,
    depth: data.depth,
    role: data.role,
    outletName: data.outletName,
    probability: data.probability,
    useProbability: data.useProbability,
    scanDepth: data.scanDepth,
    caseSensitive: data.caseSensitive,
    matchWholeWords: data.matchWholeWords,
    ignoreBudget: data.ignoreBudget,
    triggers: [...data.triggers],
    characterFilter: {
      exclude: data.characterFilter.exclude,
      names: [...data.characterFilter.names],
      tags: [...data.characterFilter.tags],
    },
    createdAt: createdAt.toISOString(),
  };
}
