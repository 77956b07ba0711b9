/** What a key may be allowed to do. A key holds these, or `<resource>:*`. Closed and append-only. */
export const SCOPES = [
  "chats:read",
  "chats:write",
  "generations:read",
  "generations:write",
  "generations:cancel",
  "audits:read",
  "audits:read_content",
  "context:preview",
  "authoring:read",
  "authoring:write",
  "lore:read",
  "lore:write",
  "imports:read",
  "imports:write",
  "metrics:read",
  "admin:read",
  "admin:write",
] as const;
export type Scope = (typeof SCOPES)[number];

/** Everything a tenant's own back end needs. */
export const ALL_TENANT_SCOPES = [
  "chats:*",
  "generations:*",
  "audits:*",
  "context:*",
  "authoring:*",
  "lore:*",
  "imports:*",
  "metrics:*",
] as const;

/**
 * What an admin key holds unless it is made with more: the installation, and any tenant's generations in numbers; no text
 * of chats, prompts or replies. A tenant's own key never holds `admin:…`.
 */
export const ALL_ADMIN_SCOPES = ["admin:*", "generations:*", "audits:read", "metrics:*"] as const;

/** Whether a key that holds `granted` may do `needed`. */
export function grants(granted: readonly string[], needed: Scope): boolean {
  return granted.includes(needed) || granted.includes(`${needed.slice(0, needed.indexOf(":"))}:*`);
}
