import { GenerationObject, GenerationQuery, pageOf } from "@shiftwork/contracts";
import { listGenerations as listRows, withTenant, type GenerationFilter } from "@shiftwork/db";
import type { z } from "zod";
import type { Caller } from "../../auth/caller.ts";
import { generationObjects } from "../../generations/generation-object.ts";
import { idCursor, pageAnswer } from "../../lists/cursor.ts";
import { endpoint } from "../endpoint.ts";
import { uuidOf } from "../ids.ts";

export const listGenerations = endpoint({
  method: "GET",
  path: "/api/v2/generations",
  tag: "Generations",
  summary: "List generations, newest first",
  scope: "generations:read",
  query: GenerationQuery,
  result: pageOf(GenerationObject),
  statuses: [200],
  errors: ["INVALID_CURSOR", "UNKNOWN_PARAMETER"],
  handle: async (deps, call) => {
    const { tenantId } = call.caller;
    const filter = filterOf(call.caller, call.query);
    const page = { limit: call.query.limit + 1, afterId: idCursor(call) };
    const { rows, objects } = await withTenant(deps.db, tenantId, async (tx) => {
      const found = await listRows(tx, tenantId, filter, page);
      return { rows: found, objects: await generationObjects(tx, tenantId, found) };
    });
    const pairs = rows.flatMap((row, index) => {
      const object = objects[index];
      return object ? [{ id: row.id, object }] : [];
    });
    return pageAnswer(call, pairs, { keyOf: ({ id }) => [id], toItem: ({ object }) => object });
  },
});

function filterOf({ ownerId }: Caller, query: z.infer<typeof GenerationQuery>): GenerationFilter {
  const chatId = uuidOf("chat", query.chatId);
  return {
    ...(query.status === undefined ? {} : { status: [query.status] }),
    ...(query.errorCode === undefined ? {} : { errorCode: query.errorCode }),
    ...(query.model === undefined ? {} : { model: query.model }),
    ...(chatId === null ? {} : { chatId }),
    ...(ownerId === null ? {} : { ownerId }),
  };
}
