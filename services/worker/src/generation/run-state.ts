import { encodeId } from "@shiftwork/contracts";
import { recordFirstToken, type Claim, type Db, type ProviderRow } from "@shiftwork/db";
import type { Assembly } from "@shiftwork/pipeline";
import type { FrameWriter, LoadedPlugins, Logger, Tokenizers } from "@shiftwork/platform";
import type {
  CallingSummariser,
  EmbeddingProvider,
  ProviderTimeouts,
  RecallChoice,
  VectorCache,
} from "@shiftwork/providers";
import { createReplyWriter, type ReplyWriter } from "../events/reply-writer.ts";
import type { OwnLease } from "../maintenance/own-lease.ts";
import type { ActiveRun, ActiveRuns } from "./active-runs.ts";
import { createLiveEvents, type LiveEvents } from "./live-events.ts";
import type { Prompt } from "./prompt.ts";
import type { RetryPolicy } from "./retry-policy.ts";
import { noFactsYet, type ReplyFacts } from "./stream-reply.ts";

export interface RunDependencies {
  readonly db: Db;
  readonly workerId: string;
  readonly activeRuns: ActiveRuns;
  readonly lease: OwnLease;
  readonly masterKey: Uint8Array;
  readonly timeouts: ProviderTimeouts;
  readonly retry: RetryPolicy;
  /** For all calls of one model-written summary together. */
  readonly summaryTimeoutMs: number;
  /** Computes vectors in this process; starts with the first text. */
  readonly useLite: EmbeddingProvider;
  readonly vectorCache: VectorCache;
  /** Tokenizers that tenants brought. */
  readonly tokenizers: Tokenizers;
  readonly frame: { readonly frameMs: number; readonly frameBytes: number };
  /** Where frames go; `null` = into the database, as everything else. */
  readonly frames: FrameWriter | null;
  readonly plugins: Pick<LoadedPlugins, "strategies" | "interceptors">;
  readonly logger: Logger;
}

/** One attempt under way; the steps fill it in from top to bottom. */
export interface Run {
  readonly claim: Claim;
  readonly active: ActiveRun;
  readonly events: LiveEvents;
  readonly writer: ReplyWriter;
  readonly facts: ReplyFacts;
  readonly log: Logger;
  provider: ProviderRow | null;
  /** Who writes summaries for the assembly; null = nobody has to. */
  helper: CallingSummariser | null;
  /** Whose vectors the chat recalls by; null = the built-in ones. */
  recall: RecallChoice | null;
  assembly: Assembly | null;
  /** As it stood before `shift`: where a tighter budget starts from. */
  unshifted: Assembly | null;
  prompt: Prompt | null;
  auditPrepared: boolean;
  /** While a wait before the next request lasts: its end, by `performance.now()`. */
  waitEndsAtMs: number | null;
}

export function beginRun(claim: Claim, active: ActiveRun, deps: RunDependencies): Run {
  const { tenantId, generationId, chatId } = claim;
  const log = deps.logger.child({
    tenantId: encodeId("tenant", tenantId),
    generationId: encodeId("generation", generationId),
    chatId: encodeId("chat", chatId),
    attempt: claim.attempt,
  });
  const events = createLiveEvents(deps.db, claim, deps.frames);
  let firstTokenRecorded = false;
  const writer: ReplyWriter = createReplyWriter({
    ...deps.frame,
    append: async (batch) => {
      const { firstTokenAt } = writer;
      if (firstTokenRecorded || firstTokenAt === null) return events.append(batch);
      firstTokenRecorded = true;
      return events.append(batch, { also: (tx) => recordFirstToken(tx, claim, firstTokenAt) });
    },
    onBroken: (error) => {
      // Its chat was deleted, somebody ended it, or another worker has it: all of them are ordinary.
      if (error === null) log.info("the run ended elsewhere and gives way");
      else log.warn({ err: error }, "live events cannot be written; the run gives way");
      deps.activeRuns.abort(generationId, "fenced");
    },
  });
  return {
    claim,
    active,
    events,
    writer,
    facts: noFactsYet(),
    log,
    provider: null,
    helper: null,
    recall: null,
    assembly: null,
    unshifted: null,
    prompt: null,
    auditPrepared: false,
    waitEndsAtMs: null,
  };
}
