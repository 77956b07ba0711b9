import { grants, type Scope } from "@shiftwork/contracts";
import { HttpProblem } from "../errors.ts";

/** In whose name a request is made. */
export interface Caller {
  /** Empty = none: no row has it, so whoever forgets to look at `everyTenant` finds nothing. */
  readonly tenantId: string;
  /** An admin who lists across tenants; only where the endpoint says so. */
  readonly everyTenant: boolean;
  readonly apiKeyId: string;
  readonly scopes: readonly string[];
  /** Set = an end user of the product: only this owner's chats and generations exist. */
  readonly ownerId: string | null;
}

export function requireScope(caller: Caller, scope: Scope): void {
  requireOneOf(caller, [scope]);
}

/** Any of the scopes will do. */
export function requireOneOf(caller: Caller, scopes: readonly [Scope, ...Scope[]]): void {
  if (scopes.some((scope) => grants(caller.scopes, scope))) return;
  throw new HttpProblem("INSUFFICIENT_SCOPE", `This key does not hold the scope ${scopes.join(" or ")}.`, {
    params: { requiredScope: scopes[0] },
  });
}

/** What concerns all of a tenant is not an end user's to change. */
export function requireWholeTenant(caller: Caller): void {
  if (caller.ownerId === null) return;
  throw new HttpProblem("INSUFFICIENT_SCOPE", "This is for the whole tenant; call it without an owner.");
}
