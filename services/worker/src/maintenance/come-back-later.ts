import type { ProviderErrorCode, RecallSetting } from "@shiftwork/contracts";
import {
  dropEmbeddingRequest,
  postponeEmbeddingRequest,
  postponeEmbeddingsOf,
  type EmbeddingRequest,
  type Tx,
} from "@shiftwork/db";
import { EmbeddingsUnavailableError, ProviderError } from "@shiftwork/providers";

/** Pauses double from the first to the last; then the request is given up until the next turn asks again. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 600_000;
const MOST_FAILURES = 12;

/** What a provider says of the texts it was sent; everything else it says of itself. */
const OF_THE_TEXTS: readonly ProviderErrorCode[] = [
  "PROVIDER_CONTEXT_LENGTH",
  "PROVIDER_CONTENT_FILTERED",
  "PROVIDER_REJECTED_REQUEST",
];

/**
 * Leaves a request that failed for a while, and with it all others of its tenant that would ask the same provider, when it
 * is the provider that fails: each of them would only find out the same. `setting` = whom it asked, `null` = nobody yet.
 */
export async function comeBackLater(
  tx: Tx,
  request: EmbeddingRequest,
  setting: RecallSetting | null,
  error: unknown,
): Promise<void> {
  const failures = request.failures + 1;
  const waitMs = waitAfter(request, error);
  if (failures >= MOST_FAILURES) await dropEmbeddingRequest(tx, request);
  else await postponeEmbeddingRequest(tx, request, waitMs);
  // Who has not failed itself is not given up for it.
  const later = { failures: Math.min(failures, MOST_FAILURES - 1), waitMs };
  if (setting !== null && isOfProvider(error)) await postponeEmbeddingsOf(tx, request.tenantId, setting, later);
}

function waitAfter({ failures }: EmbeddingRequest, error: unknown): number {
  const told = error instanceof ProviderError ? (error.retryAfterMs ?? 0) : 0;
  // What trying again cannot help may be put right by a person.
  const isHopeless = error instanceof ProviderError && !error.retryable;
  return Math.max(told, isHopeless ? LONGEST_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures));
}

function isOfProvider(error: unknown): boolean {
  if (error instanceof ProviderError) return !OF_THE_TEXTS.includes(error.code);
  return (
    error instanceof EmbeddingsUnavailableError || (error instanceof DOMException && error.name === "TimeoutError")
  );
}
