import { decodeId } from "@shiftwork/contracts";
import { findApiKey, type ApiKey, type Db } from "@shiftwork/db";
import type { IncomingHttpHeaders } from "node:http";
import { HttpProblem } from "../errors.ts";
import { hashSecret, isSameHash, parseApiKey } from "./api-key.ts";
import type { Caller } from "./caller.ts";

/** How long a revoked key may go on working in this process. */
const CACHE_MS = 5_000;
const CACHED_KEYS = 10_000;
const OWNER_ID_LENGTH = 200;

export type Authenticate = (headers: IncomingHttpHeaders) => Promise<Caller>;

/** Finds out who is calling. A typo is refused by its checksum; a key seen within 5 s costs no query. */
export function createAuthenticate(db: Db, pepper: string): Authenticate {
  const findKey = cached((keyId) => findApiKey(db, keyId));
  return async (headers) => {
    const parts = parseApiKey(bearerToken(headers));
    const key = parts && (await findKey(parts.keyId));
    if (!parts || !key || !isSameHash(hashSecret(parts.secret, pepper), key.secretHash)) {
      throw new HttpProblem("UNAUTHENTICATED", "Send a valid key as Authorization: Bearer sw_…");
    }
    requireUsable(key);
    requireOwnTenant(key, headers);
    return { tenantId: key.tenantId, apiKeyId: key.id, scopes: key.scopes, ownerId: ownerOf(key, headers) };
  };
}

function bearerToken(headers: IncomingHttpHeaders): string {
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1] ?? "";
}

function requireUsable(key: ApiKey): void {
  if (key.revokedAt !== null) throw new HttpProblem("KEY_REVOKED", "This key was revoked; use another one.");
  if (key.expiresAt !== null && key.expiresAt.getTime() <= Date.now()) {
    throw new HttpProblem("KEY_EXPIRED", "This key has expired; use another one.");
  }
}

/** A key has one tenant; naming another one is a mistake worth telling, not one to work around. */
function requireOwnTenant(key: ApiKey, headers: IncomingHttpHeaders): void {
  const named = headers["x-tenant-id"];
  if (named === undefined) return;
  if (typeof named === "string" && decodeId("tenant", named) === key.tenantId) return;
  throw new HttpProblem("INSUFFICIENT_SCOPE", "X-Tenant-Id names a tenant this key does not belong to.");
}

function ownerOf(key: ApiKey, headers: IncomingHttpHeaders): string | null {
  const named = headers["x-owner-id"];
  if (named === undefined) return key.ownerId;
  if (typeof named !== "string" || named === "" || named.length > OWNER_ID_LENGTH) {
    throw new HttpProblem("VALIDATION_FAILED", `X-Owner-Id is 1 to ${OWNER_ID_LENGTH} characters.`);
  }
  if (key.ownerId !== null && key.ownerId !== named) {
    throw new HttpProblem("INSUFFICIENT_SCOPE", "X-Owner-Id names an owner this key is not bound to.");
  }
  return named;
}

/** Remembers found keys for a moment. Unknown ones are asked for again: a new key works at once. */
function cached(find: (keyId: string) => Promise<ApiKey | null>): (keyId: string) => Promise<ApiKey | null> {
  const known = new Map<string, { readonly key: ApiKey; readonly until: number }>();
  return async (keyId) => {
    const hit = known.get(keyId);
    if (hit && hit.until > Date.now()) return hit.key;
    known.delete(keyId);
    const key = await find(keyId);
    if (key === null) return null;
    const oldest = known.keys().next();
    if (known.size >= CACHED_KEYS && !oldest.done) known.delete(oldest.value);
    known.set(keyId, { key, until: Date.now() + CACHE_MS });
    return key;
  };
}
