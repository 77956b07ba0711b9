import { encodeId } from "@shiftwork/contracts";
import { deleteChat as deleteRows, findChatLocked, withTenant } from "@shiftwork/db";
import { notFound } from "../../errors.ts";
import { forgetFrames } from "../../generations/forget-frames.ts";
import { forgetJobs } from "../../generations/forget-jobs.ts";
import { endpoint } from "../endpoint.ts";
import { pathId } from "../ids.ts";

export const deleteChat = endpoint({
  method: "DELETE",
  path: "/api/v2/chats/:chatId",
  tag: "Chats",
  summary: "Delete a chat with its messages, audits and events; its generations stay as numbers",
  scope: "chats:write",
  result: null,
  statuses: [204],
  errors: ["CHAT_NOT_FOUND"],
  handle: async (deps, call) => {
    const { tenantId, ownerId } = call.caller;
    const id = pathId(call, "chat");
    const { stopped, streamed } = await withTenant(deps.db, tenantId, async (tx) => {
      if (!(await findChatLocked(tx, tenantId, id, ownerId))) throw notFound("chat");
      return deleteRows(tx, tenantId, { id, publicId: encodeId("chat", id) });
    });
    await forgetJobs(deps, stopped);
    await forgetFrames(deps, tenantId, [...streamed, ...stopped.map(({ generationId }) => generationId)]);
    return { status: 204, body: null };
  },
});
