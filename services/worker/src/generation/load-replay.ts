import { problem } from "@shiftwork/contracts";
import { findChatAudit, findProvider, type Tx } from "@shiftwork/db";
import { canonicalJson, toReplayDocument, type AuditDocument } from "@shiftwork/pipeline";
import { inflateSync } from "node:zlib";
import { RunFailed } from "./outcome.ts";
import type { Run } from "./run-state.ts";

/** Reads the request that is sent again, with the audit of the run that made it: what was in it is still known. */
export async function loadReplay(tx: Tx, run: Run): Promise<void> {
  const { tenantId, chatId, providerId, replay } = run.claim;
  const provider = await findProvider(tx, tenantId, providerId);
  if (!provider)
    throw new RunFailed(problem("PROVIDER_NOT_FOUND", "The provider was removed after the request was accepted."));
  const { finished } = await findChatAudit(tx, tenantId, chatId);
  const earlier = finished && (JSON.parse(inflateSync(finished.document).toString("utf8")) as AuditDocument);
  // Equal but for the order of its keys, which the audit alone remembers: its bytes are the ones that were sent.
  if (!finished || !earlier || canonicalJson(earlier.providerRequest) !== canonicalJson(replay)) {
    const detail = "The audit of the run that is sent again is gone; retry it with the mode rebuild.";
    throw new RunFailed(problem("AUDIT_NOT_AVAILABLE", detail));
  }
  run.provider = provider;
  run.prompt = { document: toReplayDocument(earlier, finished.generationId), anchorId: null };
}
