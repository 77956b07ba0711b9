import { DeadLetterObject, DeadLetterQuery, encodeId, pageOf } from "@shiftwork/contracts";
import {
  findDeadLetters,
  findDeadLettersEverywhere,
  listGenerations,
  listGenerationsEverywhere,
  withTenant,
} from "@shiftwork/db";
import type { z } from "zod";
import type { ApiDependencies } from "../../api-dependencies.ts";
import { generationObjects, generationObjectsEverywhere } from "../../generations/generation-object.ts";
import { idCursor, pageAnswer } from "../../lists/cursor.ts";
import { storedFilter } from "../../lists/generation-filter.ts";
import { narrowedTo } from "../../lists/tenants-listed.ts";
import { endpoint, type Call } from "../endpoint.ts";

export const listDeadLetters = endpoint({
  method: "GET",
  path: "/api/v2/dead-letters",
  tag: "Operations",
  summary: "List generations that failed for a reason outside the request, newest first",
  scope: "metrics:read",
  tenancy: "one or all",
  query: DeadLetterQuery,
  result: pageOf(DeadLetterObject),
  statuses: [200],
  errors: ["INVALID_CURSOR"],
  handle: async (deps, call) => {
    const rows = await (call.caller.everyTenant ? ofEveryTenant(deps, call) : ofOneTenant(deps, call));
    return pageAnswer(call, rows, { keyOf: ({ uuid }) => [uuid], toItem: ({ uuid: _uuid, ...object }) => object });
  },
});

type ListCall = Call<z.infer<typeof DeadLetterQuery>>;
type Listed = DeadLetterObject & { readonly uuid: string };

async function ofOneTenant(deps: ApiDependencies, call: ListCall): Promise<readonly Listed[]> {
  const { tenantId } = call.caller;
  const filter = filterOf(call);
  return withTenant(deps.db, tenantId, async (tx) => {
    const rows = await listGenerations(tx, tenantId, filter, pageOfCall(call));
    const ids = rows.map((row) => row.id);
    const facts = await findDeadLetters(tx, tenantId, ids);
    const objects = await generationObjects(tx, tenantId, rows);
    return objects.flatMap((generation, at) => listed(ids[at], facts, generation));
  });
}

async function ofEveryTenant({ adminDb }: ApiDependencies, call: ListCall): Promise<readonly Listed[]> {
  const rows = await listGenerationsEverywhere(adminDb, filterOf(call), pageOfCall(call));
  const facts = await findDeadLettersEverywhere(
    adminDb,
    rows.map((row) => row.id),
  );
  const objects = await generationObjectsEverywhere(adminDb, rows);
  return objects.flatMap((generation, at) => {
    const row = rows[at];
    const tenantId = encodeId("tenant", row?.tenantId ?? "");
    return listed(row?.id, facts, generation).map((item) => ({ ...item, tenantId }));
  });
}

function listed(
  uuid: string | undefined,
  facts: Awaited<ReturnType<typeof findDeadLetters>>,
  generation: DeadLetterObject["generation"],
): readonly Listed[] {
  const known = uuid === undefined ? undefined : facts.get(uuid);
  if (uuid === undefined || known === undefined) return [];
  return [{ object: "dead_letter", id: generation.id, ...known, generation, uuid }];
}

function filterOf({ caller, query: { state, errorFingerprint, errorCode, model, tenantId } }: ListCall) {
  const filter = storedFilter(caller, { deadLetter: state, errorFingerprint, errorCode, model });
  return { ...filter, ...narrowedTo(caller, tenantId) };
}

function pageOfCall(call: ListCall) {
  return { limit: call.query.limit + 1, afterId: idCursor(call), order: "newest first" } as const;
}
