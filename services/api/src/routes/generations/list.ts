import { BoundedCount, encodeId, GenerationQuery, LARGEST_COUNT, ListedGeneration, pageOf } from "@shiftwork/contracts";
import {
  countGenerations,
  countGenerationsEverywhere,
  listGenerations as listRows,
  listGenerationsEverywhere,
  withTenant,
  type Counted,
  type GenerationFilter,
  type GenerationPage,
} from "@shiftwork/db";
import type { z } from "zod";
import type { ApiDependencies } from "../../api-dependencies.ts";
import { generationObjects, generationObjectsEverywhere } from "../../generations/generation-object.ts";
import { idCursor, pageAnswer } from "../../lists/cursor.ts";
import { storedFilter } from "../../lists/generation-filter.ts";
import { narrowedTo } from "../../lists/tenants-listed.ts";
import { endpoint, type Call } from "../endpoint.ts";

export const listGenerations = endpoint({
  method: "GET",
  path: "/api/v2/generations",
  tag: "Generations",
  summary: "List generations, newest first; meta.<key>=value filters by metadata, status! leaves out",
  scope: "generations:read",
  tenancy: "one or all",
  query: GenerationQuery,
  result: pageOf(ListedGeneration).extend({ count: BoundedCount.optional() }),
  statuses: [200],
  errors: ["INVALID_CURSOR", "UNKNOWN_PARAMETER"],
  handle: async (deps, call) => {
    const { items, count } = await (call.caller.everyTenant ? ofEveryTenant(deps, call) : ofOneTenant(deps, call));
    const answer = pageAnswer(call, items, { keyOf: ({ id }) => [id], toItem: ({ object }) => object });
    return count === null ? answer : { ...answer, body: { ...answer.body, count } };
  },
});

type ListCall = Call<GenerationQuery>;

interface Listed {
  readonly items: readonly { readonly id: string; readonly object: z.infer<typeof ListedGeneration> }[];
  /** `null` = not asked for. */
  readonly count: Counted | null;
}

async function ofOneTenant(deps: ApiDependencies, call: ListCall): Promise<Listed> {
  const { tenantId } = call.caller;
  const filter = filterOf(call);
  return withTenant(deps.db, tenantId, async (tx) => {
    const rows = await listRows(tx, tenantId, filter, pageOfCall(call));
    const objects = await generationObjects(tx, tenantId, rows);
    const items = objects.map((object, at) => ({ id: rows[at]?.id ?? "", object }));
    return { items, count: wantsCount(call) ? await countGenerations(tx, tenantId, filter, LARGEST_COUNT) : null };
  });
}

async function ofEveryTenant({ adminDb }: ApiDependencies, call: ListCall): Promise<Listed> {
  const filter = filterOf(call);
  const rows = await listGenerationsEverywhere(adminDb, filter, pageOfCall(call));
  const objects = await generationObjectsEverywhere(adminDb, rows);
  const items = rows.flatMap(({ id, tenantId }, at) => {
    const object = objects[at];
    return object ? [{ id, object: { ...object, tenantId: encodeId("tenant", tenantId) } }] : [];
  });
  return { items, count: wantsCount(call) ? await countGenerationsEverywhere(adminDb, filter, LARGEST_COUNT) : null };
}

function filterOf({ caller, query }: ListCall): GenerationFilter & { readonly tenantId?: string } {
  return { ...storedFilter(caller, query.filter), ...narrowedTo(caller, query.tenantId) };
}

function pageOfCall(call: ListCall): GenerationPage {
  const order = call.query.sort === "createdAt" ? "oldest first" : "newest first";
  return { limit: call.query.limit + 1, afterId: idCursor(call), order };
}

function wantsCount({ query }: ListCall): boolean {
  return query.include === "count";
}
