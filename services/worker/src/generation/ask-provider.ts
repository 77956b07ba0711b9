import { setTimeout as delay } from "node:timers/promises";
import { NO_USAGE } from "@shiftwork/db";
import type { ProviderRequest } from "@shiftwork/pipeline";
import { ProviderError, providerByKind, providerTarget } from "@shiftwork/providers";
import { addUsage } from "./add-usage.ts";
import { ToldToWait } from "./outcome.ts";
import { requireLease } from "./require-lease.ts";
import { decideRetry } from "./retry-policy.ts";
import type { Run, RunDependencies } from "./run-state.ts";
import { present } from "./step.ts";
import { streamReply } from "./stream-reply.ts";

/**
 * Sends the request and passes on the reply. What fails before the first token and may pass is sent again: here, or after
 * the wait the provider asked for, in another attempt. Behind the first token nothing is sent again.
 */
export async function askProvider(run: Run, deps: RunDependencies, request: ProviderRequest): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      countAnew(run);
      await requireLease(run, deps);
      return await sendOnce(run, deps, request);
    } catch (error) {
      run.active.signal.throwIfAborted();
      if (!(error instanceof ProviderError) || run.facts.hasBegun) throw error;
      await waitOrThrow(run, deps, error, tries);
    }
  }
}

/** A failed request may have been billed: its cost stays with the attempt, the reply's own with the reply. */
function countAnew({ facts }: Run): void {
  facts.spentBefore = addUsage(facts.spentBefore, facts.usage);
  facts.usage = NO_USAGE;
}

function sendOnce(run: Run, deps: RunDependencies, request: ProviderRequest): Promise<void> {
  const row = present(run.provider);
  return streamReply({
    provider: present(providerByKind(row.kind)),
    target: providerTarget(run.claim.tenantId, row, deps.masterKey),
    request,
    timeouts: deps.timeouts,
    writer: run.writer,
    facts: run.facts,
    signal: run.active.signal,
  });
}

async function waitOrThrow(run: Run, deps: RunDependencies, error: ProviderError, tries: number): Promise<void> {
  const { claim, log } = run;
  const untilDeadlineMs = claim.deadlineAt.getTime() - Date.now();
  const decision = decideRetry({ error, tries, toldWaits: claim.toldWaits, untilDeadlineMs }, deps.retry);
  if (decision.kind === "give_up") throw error;
  const { waitMs } = decision;
  log.info({ errorCode: error.code, status: error.status, tries, waitMs, retry: decision.kind }, "provider failed");
  if (decision.kind === "release") throw new ToldToWait(error.code, waitMs);
  await waitInPlace(run, error, waitMs);
}

/** A cancel, the deadline and the drain end the wait at once; a drain keeps what is left of it. */
async function waitInPlace(run: Run, error: ProviderError, waitMs: number): Promise<void> {
  const nextAttemptAt = new Date(Date.now() + waitMs).toISOString();
  run.writer.write({
    type: "generation.retrying",
    data: { attempt: run.claim.attempt, errorCode: error.code, nextAttemptAt, resetOutput: false },
  });
  run.waitEndsAtMs = performance.now() + waitMs;
  await delay(waitMs, undefined, { signal: run.active.signal });
  run.waitEndsAtMs = null;
}
