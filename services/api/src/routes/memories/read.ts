import { MemoryObject } from "@shiftwork/contracts";
import { findMemory, withTenant } from "@shiftwork/db";
import { notFound } from "../../errors.ts";
import { endpoint, ok } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { memoryObject } from "./memory-object.ts";

export const readMemory = endpoint({
  method: "GET",
  path: "/api/v2/memories/:memoryId",
  tag: "Authoring",
  summary: "Read a memory",
  scope: "authoring:read",
  result: MemoryObject,
  statuses: [200],
  errors: ["MEMORY_NOT_FOUND"],
  handle: async (deps, call) => {
    const { tenantId, ownerId } = call.caller;
    const id = pathId(call, "memory");
    const row = await withTenant(deps.db, tenantId, (tx) => findMemory(tx, tenantId, id, ownerId));
    if (!row) throw notFound("memory");
    return ok(memoryObject(row));
  },
});
