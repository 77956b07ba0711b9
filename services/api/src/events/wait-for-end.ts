import { performance } from "node:perf_hooks";
import { isTerminal } from "@shiftwork/contracts";
import { findGeneration, withTenant } from "@shiftwork/db";
import type { FastifyReply } from "fastify";
import type { ApiDependencies } from "../api-dependencies.ts";
import { createSignal } from "./signal.ts";

/**
 * Resolves when the generation has ended, `waitMs` has passed, the client has left or a drain has begun, whichever comes
 * first. Looks at the row whenever something is stored of the generation, never by the clock: frames end nothing.
 */
export async function waitForEnd(
  { db, eventLog, streams }: Pick<ApiDependencies, "db" | "eventLog" | "streams">,
  wait: {
    readonly tenantId: string;
    readonly generationId: string;
    readonly waitMs: number;
    readonly reply: Pick<FastifyReply, "raw">;
  },
): Promise<void> {
  const { tenantId, generationId } = wait;
  const until = performance.now() + wait.waitMs;
  const wake = createSignal();
  const unsubscribe = eventLog.subscribe(generationId, wake.raise, { storedOnly: true });
  const unregister = streams.add(() => wake.close("drain"));
  const leave = (): void => wake.close("gone");
  wait.reply.raw.once("close", leave);
  // It may have left before anybody listened.
  if (wait.reply.raw.destroyed) leave();
  const hasEnded = async (): Promise<boolean> => {
    const row = await withTenant(db, tenantId, (tx) => findGeneration(tx, tenantId, generationId));
    return row === null || isTerminal(row.status);
  };
  try {
    while (wake.closed === null && !(await hasEnded())) {
      const leftMs = until - performance.now();
      if (leftMs <= 0 || !(await wake.wait(leftMs))) return;
    }
  } finally {
    unsubscribe();
    unregister();
    wait.reply.raw.off("close", leave);
  }
}
