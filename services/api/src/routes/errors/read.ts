import { ErrorGroupObject } from "@shiftwork/contracts";
import { withTenant } from "@shiftwork/db";
import { endpoint, ok } from "../endpoint.ts";
import { errorGroupObject } from "./error-group-object.ts";
import { findErrorGroup } from "./find-error-group.ts";

export const readError = endpoint({
  method: "GET",
  path: "/api/v2/errors/:fingerprint",
  tag: "Operations",
  summary: "Read what is known of one kind of failure",
  scope: "metrics:read",
  result: ErrorGroupObject,
  statuses: [200],
  errors: ["ERROR_GROUP_NOT_FOUND"],
  handle: async (deps, { caller, params }) =>
    withTenant(deps.db, caller.tenantId, async (tx) =>
      ok(errorGroupObject(await findErrorGroup(tx, caller, params["fingerprint"] ?? ""))),
    ),
});
