import { encodeId, type ErrorCode } from "@shiftwork/contracts";
import { recordBulkProgress, type BulkActionRow, type HeldBulkAction, type Tx } from "@shiftwork/db";
import type { Caller } from "../auth/caller.ts";
import { acceptRetry } from "../generations/accept-retry.ts";
import { translateError } from "../plugins/translate-error.ts";
import { withHeld, type BatchOutcome, type BulkRunner } from "./bulk-runner.ts";

/** The generation is not there any more, or not in a state to be retried. */
const NOTHING_TO_RETRY: ReadonlySet<ErrorCode> = new Set(["GENERATION_NOT_FOUND", "GENERATION_ALREADY_FINISHED"]);
/** The same retry may go well in a moment. */
const NOT_NOW: ReadonlySet<ErrorCode> = new Set(["QUEUE_FULL", "SERVICE_UNAVAILABLE"]);

/** Retries one after the other, each in a transaction of its own: one that cannot be retried fails alone. */
export async function retryEach(
  runner: BulkRunner,
  held: HeldBulkAction,
  ids: readonly string[],
): Promise<BatchOutcome> {
  for (const id of ids) {
    const outcome = await retryOne(runner, held, id);
    if (outcome !== "more") return outcome;
  }
  return "more";
}

async function retryOne(runner: BulkRunner, held: HeldBulkAction, id: string): Promise<BatchOutcome> {
  try {
    const retried = await withHeld(runner.db, held, async (tx, action) => {
      await retry(tx, runner, held.tenantId, action, id);
      await recordBulkProgress(tx, held, { ...NOTHING, succeeded: 1, lastGenerationId: id });
      return true;
    });
    return retried === null ? "ended" : "more";
  } catch (error) {
    return passOver(runner, held, id, error);
  }
}

const NOTHING = { succeeded: 0, skipped: 0, failures: {} };

/** In the name of who asked for it; that it may be done was checked then. */
async function retry(
  tx: Tx,
  { plugins: { strategies } }: BulkRunner,
  tenantId: string,
  { apiKeyId, ownerId, requestId }: BulkActionRow,
  id: string,
): Promise<void> {
  const caller: Caller = { tenantId, everyTenant: false, apiKeyId, ownerId, scopes: [] };
  await acceptRetry(tx, { caller, requestId, strategies }, id);
}

async function passOver(
  { db, logger }: BulkRunner,
  held: HeldBulkAction,
  id: string,
  error: unknown,
): Promise<BatchOutcome> {
  const { code } = translateError(error);
  if (NOT_NOW.has(code)) return "later";
  if (code === "INTERNAL") {
    logger.error({ err: error, generationId: encodeId("generation", id) }, "a retry of a bulk action failed");
  }
  const recorded = await withHeld(db, held, async (tx) => {
    const happened = NOTHING_TO_RETRY.has(code) ? { skipped: 1 } : { failures: { [code]: 1 } };
    await recordBulkProgress(tx, held, { ...NOTHING, ...happened, lastGenerationId: id });
    return true;
  });
  return recorded === null ? "ended" : "more";
}
