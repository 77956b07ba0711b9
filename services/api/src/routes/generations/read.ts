import { GenerationObject, GenerationWaitQuery } from "@shiftwork/contracts";
import { withTenant } from "@shiftwork/db";
import { waitForEnd } from "../../events/wait-for-end.ts";
import { readGenerationInLine } from "../../generations/generation-object.ts";
import { endpoint, ok } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { visibleGeneration } from "../visible.ts";

export const readGeneration = endpoint({
  method: "GET",
  path: "/api/v2/generations/:generationId",
  tag: "Generations",
  summary: "Read a generation; with ?wait= when it has ended, after that many seconds at the latest",
  scope: "generations:read",
  query: GenerationWaitQuery,
  result: GenerationObject,
  statuses: [200],
  errors: ["GENERATION_NOT_FOUND"],
  handle: async (deps, call) => {
    const id = pathId(call, "generation");
    const { caller, reply, query } = call;
    const { tenantId } = caller;
    if (query.wait) {
      await withTenant(deps.db, tenantId, (tx) => visibleGeneration(tx, caller, id));
      await waitForEnd(deps, { tenantId, generationId: id, waitMs: query.wait * 1_000, reply });
    }
    return ok(await withTenant(deps.db, tenantId, (tx) => readGenerationInLine(tx, caller, id)));
  },
});
