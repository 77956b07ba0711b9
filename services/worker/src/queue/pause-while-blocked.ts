import { performance } from "node:perf_hooks";
import type { Logger, QueueConsumer } from "@shiftwork/platform";

export interface BlockGuardOptions {
  readonly consumer: Pick<QueueConsumer, "pause" | "resume">;
  /** A longer block of the event loop pauses the consumer; twice as long without one resumes it. */
  readonly limitMs: number;
  readonly logger: Logger;
}

export interface BlockGuard {
  /** Leaves the consumer as it is. Safe twice. */
  stop(): void;
}

/** A block may be seen as this much shorter than it was. */
const LOOK_EVERY_MS = 50;

/**
 * Takes no new job while this process cannot keep up with those it has: whose event loop was blocked, by work or because
 * the process was frozen, streams late and renews late, and another worker is the better place. Running jobs go on.
 */
export function pauseWhileBlocked({ consumer, limitMs, logger }: BlockGuardOptions): BlockGuard {
  let lookedAtMs = performance.now();
  let blockedAtMs: number | null = null;

  function look(): void {
    const nowMs = performance.now();
    const lagMs = Math.round(nowMs - lookedAtMs - LOOK_EVERY_MS);
    lookedAtMs = nowMs;
    if (lagMs > limitMs) {
      if (blockedAtMs === null) pause(lagMs);
      blockedAtMs = nowMs;
    } else if (blockedAtMs !== null && nowMs - blockedAtMs > 2 * limitMs) {
      blockedAtMs = null;
      resume();
    }
  }

  function pause(lagMs: number): void {
    logger.warn({ lagMs, limitMs }, "event loop blocked; no new jobs are taken");
    consumer.pause().catch(report);
  }

  function resume(): void {
    logger.info("event loop calm again; new jobs are taken");
    consumer.resume().catch(report);
  }

  const report = (error: unknown): void => logger.warn({ err: error }, "queue error");
  // A timer that is overdue comes before what the sockets brought meanwhile, new jobs included.
  const timer = setInterval(look, LOOK_EVERY_MS);
  return { stop: () => clearInterval(timer) };
}
