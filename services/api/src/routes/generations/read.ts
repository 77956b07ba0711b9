import { GenerationObject } from "@shiftwork/contracts";
import { withTenant } from "@shiftwork/db";
import { readGenerationObject } from "../../generations/generation-object.ts";
import { endpoint, ok } from "../endpoint.ts";
import { pathId } from "../ids.ts";

export const readGeneration = endpoint({
  method: "GET",
  path: "/api/v2/generations/:generationId",
  tag: "Generations",
  summary: "Read a generation",
  scope: "generations:read",
  result: GenerationObject,
  statuses: [200],
  errors: ["GENERATION_NOT_FOUND"],
  handle: async (deps, call) => {
    const id = pathId(call, "generation");
    const { caller } = call;
    return ok(await withTenant(deps.db, caller.tenantId, (tx) => readGenerationObject(tx, caller, id)));
  },
});
