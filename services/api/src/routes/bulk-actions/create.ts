import { BulkActionObject, BulkActionPreview, CreateBulkAction, encodeId } from "@shiftwork/contracts";
import { findGenerationIds, type Tx } from "@shiftwork/db";
import { z } from "zod";
import { answerOnce, type OnceAnswer } from "../../answer-once.ts";
import { requireScope, type Caller } from "../../auth/caller.ts";
import { acceptBulkAction, countTarget } from "../../bulk-actions/accept-bulk-action.ts";
import { readBulkActionObject } from "../../bulk-actions/bulk-action-object.ts";
import { targeted } from "../../bulk-actions/bulk-target.ts";
import { endpoint } from "../endpoint.ts";

const SAMPLE_SIZE = 10;

const Result = z.union([BulkActionObject, BulkActionPreview]);
type Result = z.infer<typeof Result>;

export const createBulkAction = endpoint({
  method: "POST",
  path: "/api/v2/bulk-actions",
  tag: "Operations",
  summary: "Cancel, retry or discard many generations; 202 and a job, or 200 and a count with dryRun",
  scope: ["generations:write", "generations:cancel"],
  body: CreateBulkAction,
  result: Result,
  statuses: [202, 200],
  errors: ["GENERATION_NOT_FOUND", "CHAT_NOT_FOUND", "IDEMPOTENCY_KEY_REUSED"],
  handle: async (deps, call) => {
    const { body, caller } = call;
    requireScope(caller, body.action === "cancel" ? "generations:cancel" : "generations:write");
    const answer = await answerOnce<Result>(deps, call, async (tx): Promise<OnceAnswer<Result>> => {
      if (body.dryRun) return { status: 200, body: await previewOf(tx, caller, body) };
      const id = await acceptBulkAction(tx, { caller, requestId: call.request.id }, body);
      const headers = { location: `/api/v2/bulk-actions/${encodeId("bulkAction", id)}` };
      return { status: 202, body: await readBulkActionObject(tx, caller, id), headers };
    });
    if (!body.dryRun) deps.wakeBulkActions();
    return answer;
  },
});

async function previewOf(tx: Tx, caller: Caller, body: CreateBulkAction): Promise<z.infer<typeof BulkActionPreview>> {
  const count = await countTarget(tx, caller, body);
  const filter = targeted(body.action, caller.ownerId, body);
  const sample = await findGenerationIds(tx, caller.tenantId, filter, { limit: SAMPLE_SIZE, afterId: null });
  const { action } = body;
  return { object: "bulk_action_preview", action, count, sample: sample.map((id) => encodeId("generation", id)) };
}
