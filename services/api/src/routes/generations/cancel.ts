import { CancelGeneration, encodeId, GenerationObject } from "@shiftwork/contracts";
import { requestCancel, type CancelOutcome, type StoppedGeneration } from "@shiftwork/db";
import { answerOnce } from "../../answer-once.ts";
import { HttpProblem, notFound } from "../../errors.ts";
import { forgetJobs } from "../../generations/forget-jobs.ts";
import { readGenerationObject } from "../../generations/generation-object.ts";
import { endpoint } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { visibleGeneration } from "../visible.ts";

export const cancelGeneration = endpoint({
  method: "POST",
  path: "/api/v2/generations/:generationId/cancel",
  tag: "Generations",
  summary: "Cancel: 200 when it has ended, 202 while its worker is being told",
  scope: "generations:cancel",
  body: CancelGeneration,
  result: GenerationObject,
  statuses: [200, 202],
  errors: ["GENERATION_NOT_FOUND", "GENERATION_ALREADY_FINISHED", "IDEMPOTENCY_KEY_REUSED"],
  handle: async (deps, call) => {
    const { tenantId } = call.caller;
    const id = pathId(call, "generation");
    const stopped: StoppedGeneration[] = [];
    const answer = await answerOnce(deps, call, async (tx) => {
      await visibleGeneration(tx, call.caller, id);
      const outcome = await requestCancel(tx, tenantId, id, call.body.reason ?? null);
      if (outcome.outcome === "cancelled") stopped.push({ generationId: id, epoch: outcome.epoch });
      return { status: statusOf(id, outcome), body: await readGenerationObject(tx, call.caller, id), generationId: id };
    });
    await forgetJobs(deps, stopped);
    return answer;
  },
});

function statusOf(id: string, cancel: CancelOutcome): 200 | 202 {
  switch (cancel.outcome) {
    case "cancelled":
      return 200;
    case "signalled":
      return 202;
    case "already":
      return cancel.status === "cancelled" ? 200 : 202;
    case "missing":
      throw notFound("generation");
    case "finished":
      throw new HttpProblem("GENERATION_ALREADY_FINISHED", `The generation has ended: ${cancel.status}.`, {
        params: { generationId: encodeId("generation", id), status: cancel.status },
      });
  }
}
