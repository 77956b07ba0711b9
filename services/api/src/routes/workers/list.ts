import { encodeId, pageOf, WorkerObject } from "@shiftwork/contracts";
import { listWorkers as listRows, type ListedWorker } from "@shiftwork/db";
import { endpoint, ok } from "../endpoint.ts";

export const listWorkers = endpoint({
  method: "GET",
  path: "/api/v2/workers",
  tag: "Operations",
  summary: "Every worker heard of in the last hour: the one that leads first",
  scope: "admin:read",
  tenancy: "none",
  result: pageOf(WorkerObject),
  statuses: [200],
  errors: [],
  handle: async ({ adminDb, deadAfterMs }) => {
    const rows = await listRows(adminDb);
    return ok({ items: rows.map((row) => workerObject(row, deadAfterMs)), nextCursor: null, hasMore: false });
  },
});

function workerObject(row: ListedWorker, deadAfterMs: number): WorkerObject {
  return {
    id: encodeId("worker", row.id),
    object: "worker",
    host: row.host,
    pid: row.pid,
    slots: row.slots,
    busy: row.busy,
    startedAt: row.startedAt.toISOString(),
    heartbeatAt: row.heartbeatAt.toISOString(),
    heartbeatAgeMs: row.heartbeatAgeMs,
    alive: row.heartbeatAgeMs < deadAfterMs,
    leads: row.leads,
  };
}
