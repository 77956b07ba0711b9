import { BranchNumber, BranchObject } from "@shiftwork/contracts";
import { bumpChatRevision, findBranchPath, setActiveBranch } from "@shiftwork/db";
import { answerOnce } from "../../answer-once.ts";
import { notFound } from "../../errors.ts";
import { endpoint, ok } from "../endpoint.ts";
import { lockIdleChat } from "./lock-idle-chat.ts";
import { readBranch } from "./read-branch.ts";

export const activateBranch = endpoint({
  method: "POST",
  path: "/api/v2/chats/:chatId/branches/:branch/activate",
  tag: "Chats",
  summary: "Go on along this branch: the one the chat shows and sends",
  scope: "chats:write",
  result: BranchObject,
  statuses: [200],
  errors: ["CHAT_NOT_FOUND", "BRANCH_NOT_FOUND", "CHAT_BUSY", "IDEMPOTENCY_KEY_REUSED"],
  handle: (deps, call) =>
    answerOnce(deps, call, async (tx) => {
      const { tenantId } = call.caller;
      const chat = await lockIdleChat(tx, call);
      const branch = BranchNumber.safeParse(call.params["branch"]).data;
      if (branch === undefined || !(await findBranchPath(tx, tenantId, chat.id, branch))) throw notFound("branch");
      if (branch !== chat.activeBranch) {
        await setActiveBranch(tx, tenantId, chat.id, branch);
        await bumpChatRevision(tx, tenantId, chat.id);
      }
      return ok(await readBranch(tx, tenantId, chat.id, branch));
    }),
});
