import { decodeId } from "@shiftwork/contracts";
import { findApiKey, tenantExists, withTenant, type ApiKey, type Db } from "@shiftwork/db";
import type { IncomingHttpHeaders } from "node:http";
import { fieldProblem, HttpProblem, notFound } from "../errors.ts";
import type { Tenancy } from "../routes/endpoint.ts";
import { hashSecret, isSameHash, parseApiKey } from "./api-key.ts";
import type { Caller } from "./caller.ts";

/** How long a revoked key may go on working in this process. */
const CACHE_MS = 5_000;
const CACHED_KEYS = 10_000;
const OWNER_ID_LENGTH = 200;

export type Authenticate = (headers: IncomingHttpHeaders, tenancy: Tenancy) => Promise<Caller>;

/** Finds out who is calling. A typo is refused by its checksum; a key seen within 5 s costs no query. */
export function createAuthenticate(db: Db, pepper: string): Authenticate {
  const findKey = cached((keyId) => findApiKey(db, keyId));
  return async (headers, tenancy) => {
    const parts = parseApiKey(bearerToken(headers));
    const key = parts && (await findKey(parts.keyId));
    if (!parts || !key || !isSameHash(hashSecret(parts.secret, pepper), key.secretHash)) {
      throw new HttpProblem("UNAUTHENTICATED", "Send a valid key as Authorization: Bearer sw_…");
    }
    requireUsable(key);
    const identity = { apiKeyId: key.id, ownerId: ownerOf(key, headers) };
    if (key.tenantId === null) {
      return { ...identity, ...(await tenantOfAdmin(db, tenancy, headers)), scopes: key.scopes };
    }
    requireOwnTenant(key.tenantId, headers);
    // Whatever a tenant's key was made with: the installation is not its to look after.
    const scopes = key.scopes.filter((scope) => !scope.startsWith("admin:"));
    return { ...identity, tenantId: key.tenantId, everyTenant: false, scopes };
  };
}

/** An admin names the tenant of each request; `*` where a list goes across tenants. */
async function tenantOfAdmin(
  db: Db,
  tenancy: Tenancy,
  headers: IncomingHttpHeaders,
): Promise<Pick<Caller, "tenantId" | "everyTenant">> {
  if (tenancy === "none") return { tenantId: "", everyTenant: false };
  const named = headers["x-tenant-id"];
  if (named === "*" && tenancy === "one or all") return { tenantId: "", everyTenant: true };
  if (typeof named !== "string" || named === "*") {
    const choice = tenancy === "one or all" ? "a tenant's id, or *" : "a tenant's id";
    const text = "An admin key belongs to no tenant.";
    throw fieldProblem("VALIDATION_FAILED", "/X-Tenant-Id", text, `Send ${choice} as X-Tenant-Id.`, "required");
  }
  const tenantId = decodeId("tenant", named);
  if (tenantId === null || !(await withTenant(db, tenantId, (tx) => tenantExists(tx, tenantId)))) {
    throw notFound("tenant");
  }
  return { tenantId, everyTenant: false };
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
function requireOwnTenant(tenantId: string, headers: IncomingHttpHeaders): void {
  const named = headers["x-tenant-id"];
  if (named === undefined) return;
  if (typeof named === "string" && decodeId("tenant", named) === tenantId) return;
  throw new HttpProblem("INSUFFICIENT_SCOPE", "X-Tenant-Id names a tenant this key does not belong to.");
}

function ownerOf(key: ApiKey, headers: IncomingHttpHeaders): string | null {
  const named = headers["x-owner-id"];
  if (named === undefined) return key.ownerId;
  if (typeof named !== "string" || named === "" || named.length > OWNER_ID_LENGTH) {
    const text = `X-Owner-Id is 1 to ${OWNER_ID_LENGTH} characters.`;
    throw fieldProblem("VALIDATION_FAILED", "/X-Owner-Id", text, "Send the end user's id as the chat has it.");
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
