import type { Caller } from "../auth/caller.ts";
import { fieldProblem } from "../errors.ts";
import { uuidOf } from "../routes/ids.ts";

/**
 * The tenant a list across tenants is narrowed to; `{}` = none. To name one is for who may see them all, and what a
 * tenant's own key names would be the same list or an empty one.
 */
export function narrowedTo(caller: Caller, tenantId: string | undefined): { readonly tenantId?: string } {
  const uuid = uuidOf("tenant", tenantId);
  if (uuid === null) return {};
  if (caller.everyTenant) return { tenantId: uuid };
  throw fieldProblem(
    "VALIDATION_FAILED",
    "/tenantId",
    "needs an admin key and X-Tenant-Id: *",
    "Leave it out: the list is the tenant's own.",
  );
}
