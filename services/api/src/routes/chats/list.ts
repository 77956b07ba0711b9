import { ChatObject, PageQuery, pageOf } from "@shiftwork/contracts";
import { listChats as listRows } from "@shiftwork/db";
import { pageById } from "../../lists/page-by-id.ts";
import { endpoint } from "../endpoint.ts";
import { chatObject } from "./chat-object.ts";

export const listChats = endpoint({
  method: "GET",
  path: "/api/v2/chats",
  tag: "Chats",
  summary: "List chats, newest first",
  scope: "chats:read",
  query: PageQuery,
  result: pageOf(ChatObject),
  statuses: [200],
  errors: ["INVALID_CURSOR", "UNKNOWN_PARAMETER"],
  handle: (deps, call) =>
    pageById(deps, call, {
      read: (tx, tenantId, page) => listRows(tx, tenantId, call.caller.ownerId, page),
      toItem: chatObject,
    }),
});
