import { encodeId, LARGEST_COUNT, type ErrorGroupObject } from "@shiftwork/contracts";
import type { ErrorGroupRow } from "@shiftwork/db";

/** `named` = it stands among those of other tenants. */
export function errorGroupObject(row: ErrorGroupRow, named = false): ErrorGroupObject {
  return {
    object: "error_group",
    ...(named ? { tenantId: encodeId("tenant", row.tenantId) } : {}),
    fingerprint: row.fingerprint,
    errorCode: row.errorCode,
    errorOrigin: row.errorOrigin,
    providerKind: row.providerKind,
    model: row.model,
    count: { count: Math.min(row.count, LARGEST_COUNT), capped: row.count > LARGEST_COUNT },
    firstSeenAt: row.firstSeenAt.toISOString(),
    lastSeenAt: row.lastSeenAt.toISOString(),
    sampleGenerationIds: row.sampleIds.map((id) => encodeId("generation", id)),
    state: row.state,
    regressed: row.regressed,
    stateChangedAt: row.stateChangedAt?.toISOString() ?? null,
  };
}
