import { encodeId } from "@shiftwork/contracts";
import { findChatAudit, type Tx } from "@shiftwork/db";
import type { ProviderRequest } from "@shiftwork/pipeline";
import { auditContent } from "../context/audit-object.ts";
import { HttpProblem } from "../errors.ts";

/**
 * The request a generation sent, as its audit has it.
 * @throws HttpProblem `AUDIT_NOT_AVAILABLE` when a newer generation's audit has replaced it, or none was ever sent.
 */
export async function replayedRequest(
  tx: Tx,
  tenantId: string,
  chatId: string,
  generationId: string,
): Promise<ProviderRequest> {
  const { finished, prepared } = await findChatAudit(tx, tenantId, chatId);
  const row = [finished, prepared].find((audit) => audit?.generationId === generationId);
  const request = row ? (await auditContent(row)).providerRequest : null;
  if (request !== null) return request;
  const detail = row
    ? "It ended before a request was made; there is nothing to send again."
    : "Its audit was replaced by a newer generation's, or it never had one.";
  throw new HttpProblem("AUDIT_NOT_AVAILABLE", `${detail} Retry it with mode "rebuild".`, {
    params: { generationId: encodeId("generation", generationId) },
    errors: [{ pointer: "/mode", code: "invalid", message: detail, fix: 'Use mode "rebuild".' }],
  });
}
