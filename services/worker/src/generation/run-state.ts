import { encodeId, type NewEvent } from "@shiftwork/contracts";
import {
  appendEventsFenced,
  recordFirstToken,
  withTenant,
  type Claim,
  type Db,
  type ProviderRow,
  type Tx,
} from "@shiftwork/db";
import type { Assembly, AssemblyReport, Interceptor } from "@shiftwork/pipeline";
import type { Logger } from "@shiftwork/platform";
import { createReplyWriter, type ReplyWriter } from "../events/reply-writer.ts";
import type { ActiveRun, ActiveRuns } from "./active-runs.ts";
import { noFactsYet, type ProviderTimeouts, type ReplyFacts } from "./stream-reply.ts";
import { whileDatabaseIsAway } from "./while-database-is-away.ts";

export interface RunDependencies {
  readonly db: Db;
  readonly workerId: string;
  readonly activeRuns: ActiveRuns;
  readonly masterKey: Uint8Array;
  readonly timeouts: ProviderTimeouts;
  readonly frame: { readonly frameMs: number; readonly frameBytes: number };
  readonly interceptors: readonly Interceptor[];
  readonly logger: Logger;
}

/** One attempt under way; the steps fill it in from top to bottom. */
export interface Run {
  readonly claim: Claim;
  readonly active: ActiveRun;
  readonly writer: ReplyWriter;
  readonly facts: ReplyFacts;
  readonly log: Logger;
  provider: ProviderRow | null;
  assembly: Assembly | null;
  report: AssemblyReport | null;
  auditPrepared: boolean;
}

export function beginRun(claim: Claim, active: ActiveRun, deps: RunDependencies): Run {
  const { tenantId, generationId, chatId, fence } = claim;
  const log = deps.logger.child({
    tenantId: encodeId("tenant", tenantId),
    generationId: encodeId("generation", generationId),
    chatId: encodeId("chat", chatId),
    attempt: claim.attempt,
  });
  let firstTokenRecorded = false;
  const append = async (tx: Tx, events: readonly NewEvent[]): Promise<boolean> => {
    const mine = await appendEventsFenced(tx, { tenantId, generationId, fence, events });
    if (!mine || firstTokenRecorded || writer.firstTokenAt === null) return mine;
    await recordFirstToken(tx, claim, writer.firstTokenAt);
    firstTokenRecorded = true;
    return true;
  };
  const writer: ReplyWriter = createReplyWriter({
    ...deps.frame,
    append: (events) => whileDatabaseIsAway(() => withTenant(deps.db, tenantId, (tx) => append(tx, events))),
    onBroken: (error) => {
      log.warn({ err: error }, "live events cannot be written; the run gives way");
      deps.activeRuns.abort(generationId, "fenced");
    },
  });
  return {
    claim,
    active,
    writer,
    facts: noFactsYet(),
    log,
    provider: null,
    assembly: null,
    report: null,
    auditPrepared: false,
  };
}
