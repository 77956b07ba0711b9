import { encodeId, type BranchObject } from "@shiftwork/contracts";
import type { BranchRow } from "@shiftwork/db";

export function branchObject(row: BranchRow): BranchObject {
  return {
    object: "branch",
    chatId: encodeId("chat", row.chatId),
    branch: row.branch,
    parentBranch: row.parentBranch,
    forkMessageId: row.forkMessageId === null ? null : encodeId("message", row.forkMessageId),
    lastMessageId: row.lastMessageId === null ? null : encodeId("message", row.lastMessageId),
    messageCount: row.messageCount,
    active: row.active,
    createdAt: row.createdAt.toISOString(),
  };
}
