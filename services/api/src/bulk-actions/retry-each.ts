import { BulkTarget, encodeId, RETRY_OBSTACLES, type ErrorCode, type SkipReason } from "@shiftwork/contracts";
import {
  findGenerationIds,
  findNewerTries,
  recordBulkProgress,
  type BulkActionRow,
  type HeldBulkAction,
  type Tx,
} from "@shiftwork/db";
import type { Caller } from "../auth/caller.ts";
import type { HttpProblem } from "../errors.ts";
import { acceptRetry } from "../generations/accept-retry.ts";
import { translateError } from "../plugins/translate-error.ts";
import { withHeld, type BatchOutcome, type BulkRunner } from "./bulk-runner.ts";
import { targetedBefore } from "./bulk-target.ts";

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
      const superseded = await hasNewerTry(tx, held.tenantId, action, id);
      if (!superseded) await retry(tx, runner, held.tenantId, action, id);
      const happened = superseded ? skipped("newer_try") : { succeeded: 1 };
      await recordBulkProgress(tx, held, { ...NOTHING, ...happened, lastGenerationId: id });
      return true;
    });
    return retried === null ? "ended" : "more";
  } catch (error) {
    return passOver(runner, held, id, error);
  }
}

const NOTHING = { succeeded: 0, skips: {}, failures: {} };

function skipped(reason: SkipReason): { readonly skips: { readonly [reason: string]: number } } {
  return { skips: { [reason]: 1 } };
}

/** Of several tries of one turn that the action is for, the newest is retried: the turn is answered once. */
async function hasNewerTry(tx: Tx, tenantId: string, action: BulkActionRow, id: string): Promise<boolean> {
  const newer = await findNewerTries(tx, tenantId, id);
  if (newer.length === 0) return false;
  const { ids: named, ...filter } = targetedBefore(action, BulkTarget.parse(action.target));
  const ids = named === undefined ? newer : newer.filter((each) => named.includes(each));
  const status = filter.status ?? (["failed", "cancelled"] as const);
  return (await findGenerationIds(tx, tenantId, { ...filter, status, ids }, { limit: 1, afterId: null })).length > 0;
}

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
  const problem = translateError(error);
  const { code } = problem;
  if (NOT_NOW.has(code)) return "later";
  if (code === "INTERNAL") {
    logger.error({ err: error, generationId: encodeId("generation", id) }, "a retry of a bulk action failed");
  }
  const reason = skipReasonOf(problem);
  const recorded = await withHeld(db, held, async (tx) => {
    const happened = reason === null ? { failures: { [code]: 1 } } : skipped(reason);
    await recordBulkProgress(tx, held, { ...NOTHING, ...happened, lastGenerationId: id });
    return true;
  });
  return recorded === null ? "ended" : "more";
}

const SKIPPED: { readonly [code in ErrorCode]?: SkipReason } = {
  GENERATION_NOT_FOUND: "not_in_state",
  GENERATION_ALREADY_FINISHED: "not_in_state",
  CHAT_BUSY: "chat_busy",
};

/** There is nothing to retry, or its chat has no place for it: what a user expects of many at once. `null` = it failed. */
function skipReasonOf({ code, params }: HttpProblem): SkipReason | null {
  const obstacle = RETRY_OBSTACLES.find((each) => code === "CONFLICT" && each === params["reason"]);
  return obstacle ?? SKIPPED[code] ?? null;
}
