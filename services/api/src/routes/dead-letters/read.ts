import { DeadLetterObject } from "@shiftwork/contracts";
import { withTenant } from "@shiftwork/db";
import { endpoint, ok } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { readDeadLetterObject } from "./dead-letter-object.ts";

export const readDeadLetter = endpoint({
  method: "GET",
  path: "/api/v2/dead-letters/:generationId",
  tag: "Operations",
  summary: "Read a generation that failed for a reason outside the request",
  scope: "metrics:read",
  result: DeadLetterObject,
  statuses: [200],
  errors: ["GENERATION_NOT_FOUND"],
  handle: async (deps, call) => {
    const id = pathId(call, "generation");
    const { caller } = call;
    return ok(await withTenant(deps.db, caller.tenantId, (tx) => readDeadLetterObject(tx, caller, id)));
  },
});
