import { encodeId } from "@shiftwork/contracts";
import type { StoppedGeneration } from "@shiftwork/db";
import type { Logger, Queue } from "@shiftwork/platform";

/**
 * Takes the jobs of generations that ended while they waited out of the queue. A job that stays behind is harmless:
 * whoever gets it finds nothing to claim.
 */
export async function forgetJobs(
  { queue, logger }: { readonly queue: Pick<Queue, "remove">; readonly logger: Logger },
  generations: readonly StoppedGeneration[],
): Promise<void> {
  await Promise.all(
    generations.map((generation) =>
      queue.remove(generation).catch((error: unknown) => {
        logger.warn(
          { err: error, generationId: encodeId("generation", generation.generationId) },
          "a cancelled job was not taken out of the queue",
        );
      }),
    ),
  );
}
