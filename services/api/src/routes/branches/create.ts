import { BranchObject, CreateBranch, encodeId } from "@shiftwork/contracts";
import { bumpChatRevision, findMessage, insertBranch, setActiveBranch, type MessageRow, type Tx } from "@shiftwork/db";
import { answerOnce } from "../../answer-once.ts";
import { HttpProblem, notFound } from "../../errors.ts";
import { created, endpoint } from "../endpoint.ts";
import { uuidOf } from "../ids.ts";
import { lockIdleChat } from "./lock-idle-chat.ts";
import { readBranch } from "./read-branch.ts";

export const createBranch = endpoint({
  method: "POST",
  path: "/api/v2/chats/:chatId/branches",
  tag: "Chats",
  summary: "Fork a branch behind a message, and go on there",
  scope: "chats:write",
  body: CreateBranch,
  result: BranchObject,
  statuses: [201],
  errors: ["CHAT_NOT_FOUND", "MESSAGE_NOT_FOUND", "CHAT_BUSY", "CONFLICT", "IDEMPOTENCY_KEY_REUSED"],
  handle: (deps, call) =>
    answerOnce(deps, call, async (tx) => {
      const { tenantId } = call.caller;
      const chat = await lockIdleChat(tx, call);
      const last = await findLastShared(tx, tenantId, chat.id, uuidOf("message", call.body.messageId));
      const fork = { parentBranch: last.branch, forkSeq: last.seq };
      const branch = await insertBranch(tx, tenantId, chat.id, fork);
      if (call.body.activate) {
        await setActiveBranch(tx, tenantId, chat.id, branch);
        await bumpChatRevision(tx, tenantId, chat.id);
      }
      const path = `/api/v2/chats/${encodeId("chat", chat.id)}/messages?branch=${branch}`;
      return created(path, await readBranch(tx, tenantId, chat.id, branch));
    }),
});

async function findLastShared(tx: Tx, tenantId: string, chatId: string, id: string): Promise<MessageRow> {
  const message = await findMessage(tx, tenantId, chatId, id);
  if (!message) throw notFound("message");
  if (message.active) return message;
  throw new HttpProblem("CONFLICT", "It is not the chosen variant of its position; select it, then fork behind it.");
}
