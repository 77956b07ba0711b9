import { setTimeout as delay } from "node:timers/promises";
import { encodeId } from "@shiftwork/contracts";
import { giveRoomBack, withTenant } from "@shiftwork/db";
import type { ApiDependencies } from "../api-dependencies.ts";

/** A new generation's first dispatch. */
const FIRST_EPOCH = 0;
/** How long an answer is held up by a queue that does not react. */
const LONGEST_HOLD_UP_MS = 1_000;

/**
 * Puts a generation that counts as dispatched into the queue, after its commit. What the queue refuses goes back to the
 * dispatcher; what a crash leaves marked and not queued is found by the reconciler.
 */
export async function handOver(
  deps: Pick<ApiDependencies, "db" | "queue" | "logger">,
  tenantId: string,
  generationId: string,
): Promise<void> {
  const generation = { tenantId, generationId, epoch: FIRST_EPOCH };
  const settled = deps.queue
    .add([{ ...generation, priority: 1 }])
    .catch(async (error: unknown) => {
      deps.logger.warn({ err: error, generationId: encodeId("generation", generationId) }, "the queue took no job");
      await withTenant(deps.db, tenantId, (tx) => giveRoomBack(tx, generation));
    })
    .catch((error: unknown) => deps.logger.warn({ err: error }, "left to the reconciler"));
  await Promise.race([settled, delay(LONGEST_HOLD_UP_MS, undefined, { ref: false })]);
}
