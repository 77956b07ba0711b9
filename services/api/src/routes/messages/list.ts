import { MessageObject, MessageQuery, pageOf } from "@shiftwork/contracts";
import { findBranchPath, listMessages as listRows, withTenant } from "@shiftwork/db";
import { notFound } from "../../errors.ts";
import { numberCursor, pageAnswer } from "../../lists/cursor.ts";
import { endpoint } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { visibleChat } from "../visible.ts";
import { messageObject } from "./message-object.ts";

export const listMessages = endpoint({
  method: "GET",
  path: "/api/v2/chats/:chatId/messages",
  tag: "Chats",
  summary: "List the messages of a chat in its order, along its active branch or another one",
  scope: "chats:read",
  query: MessageQuery,
  result: pageOf(MessageObject),
  statuses: [200],
  errors: ["CHAT_NOT_FOUND", "BRANCH_NOT_FOUND", "INVALID_CURSOR", "UNKNOWN_PARAMETER"],
  handle: async (deps, call) => {
    const { tenantId } = call.caller;
    const chatId = pathId(call, "chat");
    // A list goes on along the branch it began on, whichever becomes the active one meanwhile.
    const [seq = 0, variant = 0, begunOn = null] = numberCursor(call, 3) ?? [];
    const page = {
      limit: call.query.limit + 1,
      after: call.query.cursor === undefined ? null : { seq, variant },
      allVariants: call.query.variants === "all",
    };
    const { rows, branch } = await withTenant(deps.db, tenantId, async (tx) => {
      const chat = await visibleChat(tx, call.caller, chatId);
      const listed = begunOn ?? call.query.branch ?? chat.activeBranch;
      const path = await findBranchPath(tx, tenantId, chat.id, listed);
      if (!path) throw notFound("branch");
      return { rows: await listRows(tx, path, page), branch: listed };
    });
    return pageAnswer(call, rows, { keyOf: (row) => [row.seq, row.variant, branch], toItem: messageObject });
  },
});
