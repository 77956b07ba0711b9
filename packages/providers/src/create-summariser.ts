import { encodeId, wireOfKind, type ChosenSummarizer, type ErrorCode } from "@shiftwork/contracts";
import type { ProviderRow, StoredSummary } from "@shiftwork/db";
import { singleTurnRequest, type Assembly, type Diagnostic, type Summariser } from "@shiftwork/pipeline";
import { completeText } from "./complete-text.ts";
import { ProviderError, type ProviderTarget, type ProviderTimeouts } from "./provider.ts";
import { providerByKind } from "./registry.ts";

/** A summariser for one assembly, and what its calls came to so far. */
export interface CallingSummariser {
  readonly chosen: ChosenSummarizer<ProviderRow>;
  readonly summariser: Summariser;
  readonly calls: readonly SummaryCall[];
}

/** One call of the summariser's model; tokens as the provider reported them. */
interface SummaryCall {
  readonly startedAtMs: number;
  /** `null` = nobody waits for it any more. */
  endedAtMs: number | null;
  inputTokens: number | null;
  outputTokens: number | null;
  /** `null` = it answered. */
  errorCode: ErrorCode | null;
}

export interface SummariserOptions {
  readonly chosen: ChosenSummarizer<ProviderRow>;
  /** Opens the provider's secret; called just before each call. */
  readonly target: () => ProviderTarget;
  readonly stored: StoredSummary | null;
  readonly timeouts: ProviderTimeouts;
  /** For all calls of one summary together. */
  readonly timeoutMs: number;
}

/** A summariser that calls a model through the same providers as the turn itself; nothing it writes becomes a message. */
export function createSummariser(options: SummariserOptions): CallingSummariser {
  const { chosen, target, stored, timeouts, timeoutMs } = options;
  const provider = providerByKind(chosen.provider.kind);
  const wire = wireOfKind(chosen.provider.kind);
  const calls: SummaryCall[] = [];
  async function summarise(prompt: string, { maxTokens, signal }: { maxTokens: number; signal: AbortSignal }) {
    if (provider === null) throw new Error(`there is no provider kind ${chosen.provider.kind}`);
    const request = singleTurnRequest({ wire, model: chosen.model, text: prompt, maxTokens });
    const startedAtMs = performance.now();
    const call: SummaryCall = {
      startedAtMs,
      endedAtMs: null,
      inputTokens: null,
      outputTokens: null,
      errorCode: "PROVIDER_TIMEOUT",
    };
    calls.push(call);
    try {
      const { text, usage } = await completeText(provider, { target: target(), request, signal, ...timeouts });
      Object.assign(call, { ...usage, errorCode: null });
      // PostgreSQL holds no U+0000: the summary is kept for the next attempt as it was sent.
      return text.replaceAll("\u0000", "\uFFFD");
    } catch (error) {
      if (error instanceof ProviderError) call.errorCode = error.code;
      throw error;
    } finally {
      call.endedAtMs = performance.now();
    }
  }
  const { id, contextLimit, model } = chosen;
  return { chosen, summariser: { id, contextLimit, request: { model, wire }, summarise, stored, timeoutMs }, calls };
}

/** What the summary cost, for the audit; `null` = no model was called and no stored summary stands in the prompt. */
export function summaryCost(summary: Assembly["summary"], { chosen, calls }: CallingSummariser): Diagnostic | null {
  const reused = calls.length === 0 && summary !== null && summary.sourceHash !== null;
  if (calls.length === 0 && !reused) return null;
  const sum = (tokens: "inputTokens" | "outputTokens"): number | null =>
    calls.every((call) => call[tokens] === null) ? null : calls.reduce((total, call) => total + (call[tokens] ?? 0), 0);
  const errorCode = calls.find((call) => call.errorCode !== null)?.errorCode;
  const nowMs = performance.now();
  const durationMs = calls.reduce((total, call) => total + (call.endedAtMs ?? nowMs) - call.startedAtMs, 0);
  return {
    code: "summary_written",
    stage: "shift",
    detail: {
      providerId: encodeId("provider", chosen.provider.id),
      model: chosen.model,
      calls: calls.length,
      reused,
      inputTokens: sum("inputTokens"),
      outputTokens: sum("outputTokens"),
      durationMs: Math.round(durationMs),
      ...(errorCode === undefined ? {} : { errorCode }),
    },
  };
}
