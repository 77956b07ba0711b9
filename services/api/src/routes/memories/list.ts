import { MemoryObject, MemoryQuery, pageOf } from "@shiftwork/contracts";
import { listMemories as listRows, withTenant } from "@shiftwork/db";
import { idCursor, pageAnswer } from "../../lists/cursor.ts";
import { endpoint } from "../endpoint.ts";
import { uuidOf } from "../ids.ts";
import { memoryObject } from "./memory-object.ts";

export const listMemories = endpoint({
  method: "GET",
  path: "/api/v2/memories",
  tag: "Authoring",
  summary: "List memories, newest first",
  scope: "authoring:read",
  query: MemoryQuery,
  result: pageOf(MemoryObject),
  statuses: [200],
  errors: ["INVALID_CURSOR", "UNKNOWN_PARAMETER"],
  handle: async (deps, call) => {
    const { tenantId, ownerId } = call.caller;
    const filter = {
      chatId: uuidOf("chat", call.query.chatId),
      characterId: uuidOf("character", call.query.characterId),
      ownerId,
    };
    const page = { limit: call.query.limit + 1, afterId: idCursor(call) };
    const rows = await withTenant(deps.db, tenantId, (tx) => listRows(tx, tenantId, filter, page));
    return pageAnswer(call, rows, { keyOf: (row) => [row.id], toItem: memoryObject });
  },
});
