import { MemoryObject, MemoryQuery, pageOf } from "@shiftwork/contracts";
import { listMemories as listRows } from "@shiftwork/db";
import { pageById } from "../../lists/page-by-id.ts";
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
  handle: (deps, call) => {
    const filter = {
      chatId: uuidOf("chat", call.query.chatId),
      characterId: uuidOf("character", call.query.characterId),
      ownerId: call.caller.ownerId,
    };
    return pageById(deps, call, {
      read: (tx, tenantId, page) => listRows(tx, tenantId, filter, page),
      toItem: memoryObject,
    });
  },
});
