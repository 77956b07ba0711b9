import { DeadLetterObject, DiscardDeadLetter } from "@shiftwork/contracts";
import { discardDeadLetters } from "@shiftwork/db";
import { answerOnce } from "../../answer-once.ts";
import { HttpProblem } from "../../errors.ts";
import { endpoint, ok } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { readDeadLetterObject } from "./dead-letter-object.ts";

export const discardDeadLetter = endpoint({
  method: "POST",
  path: "/api/v2/dead-letters/:generationId/discard",
  tag: "Operations",
  summary: "Drop an open dead letter, saying why",
  scope: "generations:write",
  body: DiscardDeadLetter,
  result: DeadLetterObject,
  statuses: [200],
  errors: ["GENERATION_NOT_FOUND", "CONFLICT", "IDEMPOTENCY_KEY_REUSED"],
  handle: async (deps, call) => {
    const id = pathId(call, "generation");
    const { caller } = call;
    return answerOnce(deps, call, async (tx) => {
      const { state } = await readDeadLetterObject(tx, caller, id);
      const dropped = await discardDeadLetters(tx, caller.tenantId, [id], call.body.note);
      if (dropped.length === 0) throw new HttpProblem("CONFLICT", `It is not open any more: ${state}.`);
      return ok(await readDeadLetterObject(tx, caller, id));
    });
  },
});
