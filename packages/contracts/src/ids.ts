/** Public ids are a type prefix and the row's UUIDv7 without dashes: sortable, safe to log, hard to mix up. */
export const ID_PREFIXES = {
  tenant: "ten",
  apiKey: "key",
  provider: "prov",
  character: "char",
  persona: "pers",
  lorebook: "book",
  loreEntry: "lore",
  memory: "mem",
  chat: "chat",
  message: "msg",
  generation: "gen",
  import: "imp",
  worker: "wkr",
  bulkAction: "bulk",
  tokenizer: "tok",
  adminKey: "adm",
} as const satisfies Record<string, string>;
export type IdKind = keyof typeof ID_PREFIXES;

/** `encodeId("chat", "0199…-…")` → `chat_0199…`. */
export function encodeId(kind: IdKind, uuid: string): string {
  return `${ID_PREFIXES[kind]}_${uuid.replaceAll("-", "")}`;
}

/** The UUID in a public id, or `null` when it is not an id of this kind. */
export function decodeId(kind: IdKind, id: string): string | null {
  const match = /^([a-z]+)_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(id);
  if (match?.[1] !== ID_PREFIXES[kind]) return null;
  return match.slice(2).join("-");
}
