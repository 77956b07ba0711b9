import { ChatContextAudit, encodeId, grants } from "@shiftwork/contracts";
import { findActiveGeneration, findChatAudit, withTenant } from "@shiftwork/db";
import type { TokenizerFacts } from "@shiftwork/pipeline";
import { auditObject } from "../../context/audit-object.ts";
import { profileOfAudit } from "../../tokenizers/own-tokenizer.ts";
import { endpoint, ok } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { visibleChat } from "../visible.ts";

export const readContextAudit = endpoint({
  method: "GET",
  path: "/api/v2/chats/:chatId/context-audit",
  tag: "Context",
  summary: "What the model saw in the chat's last turn, what it did not see, and why",
  scope: "audits:read",
  result: ChatContextAudit,
  statuses: [200],
  errors: ["CHAT_NOT_FOUND"],
  handle: async (deps, call) => {
    const { tenantId, scopes } = call.caller;
    const chatId = pathId(call, "chat");
    const { audits, active } = await withTenant(deps.db, tenantId, async (tx) => {
      const chat = await visibleChat(tx, call.caller, chatId);
      return {
        audits: await findChatAudit(tx, tenantId, chat.id),
        active: await findActiveGeneration(tx, tenantId, chat.id),
      };
    });
    // The chat's very first turn has no finished audit to show yet; its prepared one is already what was sent.
    const row = audits.finished ?? audits.prepared;
    const findProfile = (facts: TokenizerFacts) => profileOfAudit(deps, tenantId, facts);
    return ok({
      audit: row && (await auditObject(row, grants(scopes, "audits:read_content"), findProfile)),
      pending: active && { generationId: encodeId("generation", active.id), status: active.status },
    });
  },
});
