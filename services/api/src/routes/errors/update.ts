import { ErrorGroupObject, PatchErrorGroup } from "@shiftwork/contracts";
import { withTenant, writeErrorState } from "@shiftwork/db";
import { requireWholeTenant } from "../../auth/caller.ts";
import { endpoint, ok } from "../endpoint.ts";
import { errorGroupObject } from "./error-group-object.ts";
import { findErrorGroup } from "./find-error-group.ts";

export const updateError = endpoint({
  method: "PATCH",
  path: "/api/v2/errors/:fingerprint",
  tag: "Operations",
  summary: "Say that a kind of failure is open, resolved (until it happens again) or to be ignored",
  scope: "generations:write",
  body: PatchErrorGroup,
  result: ErrorGroupObject,
  statuses: [200],
  errors: ["ERROR_GROUP_NOT_FOUND"],
  handle: async (deps, { caller, params, body }) => {
    requireWholeTenant(caller);
    return withTenant(deps.db, caller.tenantId, async (tx) => {
      const { fingerprint } = await findErrorGroup(tx, caller, params["fingerprint"] ?? "");
      await writeErrorState(tx, caller.tenantId, fingerprint, body.state);
      return ok(errorGroupObject(await findErrorGroup(tx, caller, fingerprint)));
    });
  },
});
