import { encodeId } from "@shiftwork/contracts";
import type { EventLog, Logger } from "@shiftwork/platform";

/**
 * Deletes what the event log keeps of generations outside the database. What stays behind because the log is away
 * expires with the retention; of a deleted chat, nobody can ask for it any more.
 */
export async function forgetFrames(
  { eventLog, logger }: { readonly eventLog: Pick<EventLog, "forget">; readonly logger: Logger },
  tenantId: string,
  generationIds: readonly string[],
): Promise<void> {
  await eventLog.forget(tenantId, generationIds).catch((error: unknown) => {
    logger.warn(
      { err: error, tenantId: encodeId("tenant", tenantId) },
      "live events of a deleted chat or message were left to expire",
    );
  });
}
