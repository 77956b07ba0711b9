import { encodeId, QueueStats } from "@shiftwork/contracts";
import {
  countQueueByTenant,
  countTenantQueue,
  DISPATCHED_QUEUE,
  readQueuePause,
  sumQueueCounts,
  withTenant,
} from "@shiftwork/db";
import { endpoint, ok } from "../endpoint.ts";

export const readQueueStats = endpoint({
  method: "GET",
  path: "/api/v2/stats/queue",
  tag: "Operations",
  summary: "How many generations wait and run, and for how long the oldest has waited",
  scope: "metrics:read",
  tenancy: "one or all",
  result: QueueStats,
  statuses: [200],
  errors: [],
  handle: async ({ db, adminDb }, { caller: { tenantId, everyTenant } }) => {
    const paused = (await readQueuePause(db, DISPATCHED_QUEUE)) !== null;
    const queue = { object: "queue_stats" as const, name: DISPATCHED_QUEUE, paused };
    if (!everyTenant)
      return ok({ ...queue, ...(await withTenant(db, tenantId, (tx) => countTenantQueue(tx, tenantId))) });
    const counted = await countQueueByTenant(adminDb);
    const tenants = counted.map((counts) => ({ ...counts, tenantId: encodeId("tenant", counts.tenantId) }));
    return ok({ ...queue, ...sumQueueCounts(counted), tenants });
  },
});
