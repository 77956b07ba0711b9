import { toAuditDocument, type AssemblyReport, type AuditDocument, type ProviderRequest } from "@shiftwork/pipeline";

/** A prompt ready to be audited and sent, assembled by this run or taken over from an earlier one. */
export interface Prompt {
  /** As it is stored; `providerRequest: null` = it did not fit, `error` says why. */
  readonly document: AuditDocument;
  /** The oldest history message that was kept; `null` = not known. */
  readonly anchorId: string | null;
}

/** `refused` = requests of this attempt that the provider found too long. */
export function promptOf(report: AssemblyReport, refused: readonly ProviderRequest[] = []): Prompt {
  const document = toAuditDocument(report);
  return {
    document: refused.length === 0 ? document : { ...document, refusedRequests: refused },
    anchorId: report.anchorId,
  };
}
