import type { ProviderErrorCode } from "@shiftwork/contracts";
import type { ProviderRequest, ToldSize } from "@shiftwork/pipeline";

/** Where and how to reach a model. `apiKey` is decrypted just before the call and lives no longer than it. */
export interface ProviderTarget {
  /** Root of the API, e.g. `http://127.0.0.1:11434/v1`; empty for built-in providers. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /**
   * May the host be in a private network or on this machine (a local model)? Comes from the provider's row, never from
   * a request. Link-local addresses, where clouds keep their credentials service, are refused either way.
   */
  readonly allowPrivateNetwork: boolean;
}

/**
 * What a provider streams back, in order. Exactly one `end` closes a successful stream. Deltas are well-formed Unicode
 * and joined give the text; no `text` part comes before the first character that is not white space, so a blank reply
 * streams nothing. `usage` may come more than once: the last one counts, `null` = not reported.
 * `index` numbers the calls of one reply from 0; `id` and `name` stand on every delta of a call.
 */
export type StreamPart =
  | { readonly type: "text"; readonly delta: string }
  | { readonly type: "reasoning"; readonly delta: string }
  | {
      readonly type: "tool_call";
      readonly index: number;
      readonly id: string;
      readonly name: string;
      readonly argumentsDelta: string;
    }
  | {
      readonly type: "usage";
      readonly inputTokens: number | null;
      readonly outputTokens: number | null;
      readonly cacheReadTokens: number | null;
    }
  | { readonly type: "end"; readonly finishReason: string };

export interface StreamCall {
  readonly target: ProviderTarget;
  /** Sent byte for byte as `wireBody` gives it. */
  readonly request: ProviderRequest;
  /** Aborts in every phase: resolving, connecting, waiting for the first token, mid-stream. Closes the socket. */
  readonly signal: AbortSignal;
  readonly connectTimeoutMs: number;
  /** Longest silence, before the first token and between tokens. */
  readonly idleTimeoutMs: number;
}

/** How long a call may wait. */
export type ProviderTimeouts = Pick<StreamCall, "connectTimeoutMs" | "idleTimeoutMs">;

/** One provider kind. Every kind passes `provider.contract.test.ts`. */
export interface Provider {
  readonly kind: string;
  /** Throws `ProviderError`; after an abort, throws `signal.reason`. */
  stream(call: StreamCall): AsyncIterable<StreamPart>;
}

/** A provider failed. `message` is ours and safe to store and show; upstream text never enters it. */
export class ProviderError extends Error {
  readonly code: ProviderErrorCode;
  readonly retryable: boolean;
  /** Upstream HTTP status, when there was one. */
  readonly status: number | null;
  /** What the provider asked us to wait, when it did. */
  readonly retryAfterMs: number | null;
  /** Of a prompt that was too long: the sizes the provider named. */
  readonly toldSize: ToldSize | null;

  constructor(
    code: ProviderErrorCode,
    message: string,
    facts: { retryable: boolean; status?: number; retryAfterMs?: number; toldSize?: ToldSize },
  ) {
    super(message);
    this.name = "ProviderError";
    this.code = code;
    this.retryable = facts.retryable;
    this.status = facts.status ?? null;
    this.retryAfterMs = facts.retryAfterMs ?? null;
    this.toldSize = facts.toldSize ?? null;
  }
}
