import type { ProviderErrorCode } from "@shiftwork/contracts";
import { readErrorFacts, type ErrorFacts } from "./error-facts.ts";
import {
  AUTH_CODES,
  AUTH_TEXTS,
  CONTENT_FILTER_CODES,
  CONTENT_FILTER_TEXTS,
  CONTEXT_LENGTH_CODES,
  CONTEXT_LENGTH_TEXTS,
  OUTPUT_LIMIT_TEXTS,
  QUOTA_CODES,
  QUOTA_TEXTS,
  RATE_LIMIT_CODES,
  RATE_LIMIT_TEXTS,
  STATUS_OF_CODE,
} from "./error-signatures.ts";
import { ProviderError } from "./provider.ts";
import { readToldSize } from "./told-size.ts";

/** An answer that is not a completion. */
export interface UpstreamFailure {
  /** HTTP status; `null` when the error came inside a stream that began with 200. */
  readonly status: number | null;
  /** The error body or the error event's data; read here and dropped. */
  readonly body: string;
  readonly retryAfterMs: number | null;
}

interface Rule {
  readonly code: ProviderErrorCode;
  readonly retryable: boolean;
  readonly message: string;
  /** `status` is 0 when neither the answer nor the body names one. */
  when(status: number, facts: ErrorFacts): boolean;
}

/** First match wins: status, then code, then text. A rate limit that speaks of tokens must not look like an overflow. */
const RULES: readonly Rule[] = [
  {
    code: "PROVIDER_UNAVAILABLE",
    retryable: false,
    message: "The provider answered with a redirect, which is not followed; set the final address as its base URL.",
    when: (status) => status >= 300 && status < 400,
  },
  {
    code: "PROVIDER_RATE_LIMITED",
    retryable: false,
    message: "The account at the provider has no quota or credit left.",
    when: (status, facts) => status === 402 || (oneOf(status, 0, 403, 429) && says(facts, QUOTA_CODES, QUOTA_TEXTS)),
  },
  {
    code: "PROVIDER_RATE_LIMITED",
    retryable: true,
    message: "The provider's rate limit was reached.",
    when: (status) => status === 429,
  },
  {
    code: "PROVIDER_RATE_LIMITED",
    retryable: false,
    message: "The request alone is larger than the provider's rate limit.",
    when: (status, facts) => oneOf(status, 400, 413) && says(facts, RATE_LIMIT_CODES, []),
  },
  {
    code: "PROVIDER_CONTENT_FILTERED",
    retryable: false,
    message: "The provider's content filter refused the request.",
    when: (status, facts) => status < 500 && status !== 401 && says(facts, CONTENT_FILTER_CODES, CONTENT_FILTER_TEXTS),
  },
  {
    code: "PROVIDER_AUTH_FAILED",
    retryable: false,
    message: "The provider does not accept the API key.",
    when: (status, facts) => oneOf(status, 401, 403) || (oneOf(status, 0, 400) && says(facts, AUTH_CODES, AUTH_TEXTS)),
  },
  {
    code: "PROVIDER_TIMEOUT",
    retryable: true,
    message: "The provider gave up waiting for its model.",
    when: (status) => oneOf(status, 408, 504, 522, 524),
  },
  {
    code: "PROVIDER_UNAVAILABLE",
    retryable: true,
    message: "The provider is overloaded or out of order.",
    when: (status, facts) => status >= 500 && !(status === 500 && says(facts, CONTEXT_LENGTH_CODES, [])),
  },
  {
    code: "PROVIDER_RATE_LIMITED",
    retryable: true,
    message: "The provider's rate limit was reached.",
    when: (status, facts) => status === 0 && says(facts, RATE_LIMIT_CODES, RATE_LIMIT_TEXTS),
  },
  {
    code: "PROVIDER_CONTEXT_LENGTH",
    retryable: false,
    message: "The provider says the prompt is longer than the model's context window.",
    when: (status, facts) => status === 413 || says(facts, CONTEXT_LENGTH_CODES, CONTEXT_LENGTH_TEXTS),
  },
  {
    code: "PROVIDER_REJECTED_REQUEST",
    retryable: false,
    message: "The provider does not accept this value of max_tokens.",
    when: (status, facts) => status !== 404 && says(facts, [], OUTPUT_LIMIT_TEXTS),
  },
  {
    code: "PROVIDER_REJECTED_REQUEST",
    retryable: false,
    message: "The provider does not know this model, or its base URL is wrong.",
    when: (status) => status === 404,
  },
  {
    code: "PROVIDER_REJECTED_REQUEST",
    retryable: false,
    message: "The provider rejected the request.",
    when: (status) => status >= 400,
  },
];

const UNEXPLAINED = {
  code: "PROVIDER_STREAM_INTERRUPTED",
  retryable: true,
  message: "The provider reported an error in its stream.",
} as const;

/** Turns an upstream failure into our own error. The status decides first, then its machine code, then its text. */
export function classifyError(failure: UpstreamFailure): ProviderError {
  const facts = readErrorFacts(failure.body);
  const status = failure.status ?? statusWithin(facts);
  const verdict = RULES.find((rule) => rule.when(status, facts)) ?? UNEXPLAINED;
  return new ProviderError(verdict.code, verdict.message, {
    retryable: verdict.retryable,
    ...(failure.status === null ? {} : { status: failure.status }),
    ...(failure.retryAfterMs === null ? {} : { retryAfterMs: failure.retryAfterMs }),
    ...(verdict.code === "PROVIDER_CONTEXT_LENGTH" ? { toldSize: readToldSize(facts) } : {}),
  });
}

function statusWithin(facts: ErrorFacts): number {
  if (facts.status !== null) return facts.status;
  return facts.codes.map((code) => STATUS_OF_CODE.get(code)).find((status) => status !== undefined) ?? 0;
}

function says(facts: ErrorFacts, codes: readonly string[], texts: readonly RegExp[]): boolean {
  return facts.codes.some((code) => codes.includes(code)) || texts.some((text) => text.test(facts.text));
}

function oneOf(status: number, ...statuses: readonly number[]): boolean {
  return statuses.includes(status);
}
