import { BulkActionObject } from "@shiftwork/contracts";
import { abortBulkAction as abort } from "@shiftwork/db";
import { answerOnce } from "../../answer-once.ts";
import { requireScope } from "../../auth/caller.ts";
import { readBulkActionObject } from "../../bulk-actions/bulk-action-object.ts";
import { HttpProblem } from "../../errors.ts";
import { endpoint, ok } from "../endpoint.ts";
import { pathId } from "../ids.ts";

export const abortBulkAction = endpoint({
  method: "POST",
  path: "/api/v2/bulk-actions/:bulkActionId/abort",
  tag: "Operations",
  summary: "Stop a bulk action after the batch under way; what it has done stays done",
  scope: ["generations:write", "generations:cancel"],
  result: BulkActionObject,
  statuses: [200],
  errors: ["BULK_ACTION_NOT_FOUND", "CONFLICT", "IDEMPOTENCY_KEY_REUSED"],
  handle: async (deps, call) => {
    const id = pathId(call, "bulkAction");
    const { caller } = call;
    return answerOnce(deps, call, async (tx) => {
      const { action, status } = await readBulkActionObject(tx, caller, id);
      requireScope(caller, action === "cancel" ? "generations:cancel" : "generations:write");
      const aborted = await abort(tx, caller.tenantId, id);
      if (!aborted && status === "completed") throw new HttpProblem("CONFLICT", "It has completed already.");
      return ok(await readBulkActionObject(tx, caller, id));
    });
  },
});
