import { describe, expect, it } from "vitest";
import { classifyError } from "./classify-error.ts";

const openAi = (fields: object) => JSON.stringify({ error: fields });
const CONTEXT = "PROVIDER_CONTEXT_LENGTH";

/** [status (null = inside a 200 stream), body, code, retryable]; bodies have the shape of real answers. */
const SAMPLES: readonly [number | null, string, string, boolean][] = [
  // Context length, by code
  [400, openAi({ code: "context_length_exceeded" }), CONTEXT, false],
  [400, openAi({ code: 400, type: "exceed_context_size_error", message: "too big" }), CONTEXT, false],
  [500, openAi({ code: "context_length_exceeded", message: "x" }), CONTEXT, false],
  [413, "", CONTEXT, false],
  [413, openAi({ code: "tokens_limit_reached", message: "Max size: 8000 tokens." }), CONTEXT, false],
  // Context length, by text
  ...(
    [
      "maximum context length is 8192 tokens. However, you requested 9000",
      "Your input exceeds the context window of this model.",
      "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
      "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
      "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
      "Please reduce the length of the messages or completion.",
      "the request exceeds the available context size. try increasing the context size",
      "Trying to keep the first 9000 tokens when context overflows; greater than the context length",
      "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
      "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 and 500",
      "too many tokens: total number of tokens in the prompt cannot exceed 4081",
      "Input is too long for requested model.",
      "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.",
      "Prompt too long: 5152 tokens exceeds max_seq_len 2048",
      "Prompt has 256468 tokens, but the configured context size is 256000 tokens",
      "Your request exceeded model token limit: 8192",
      "Prompt exceeds max length",
      "context window exceeds limit",
      "Context size has been exceeded.",
      "However, the model is loaded with context length of only 4096 tokens, which is not enough.",
      "Range of input length should be [1, 30720]",
      "Your input is too long. Max input length is 4096 tokens, but you supplied 5441 tokens.",
      "Input length of input_ids is `4498` and exceed max_sequence_length: `4096`!",
    ] as const
  ).map((message): [number, string, string, boolean] => [400, openAi({ message, code: null }), CONTEXT, false]),
  [
    400,
    JSON.stringify({
      type: "error",
      error: { type: "invalid_request_error", message: "prompt is too long: 210000 tokens > 200000 maximum" },
    }),
    CONTEXT,
    false,
  ],
  [422, JSON.stringify({ detail: [{ msg: "maximum context length is 8192" }] }), CONTEXT, false],
  [400, JSON.stringify({ object: "error", message: "maximum context length is 4096", code: 400 }), CONTEXT, false],
  [
    400,
    openAi({ message: "Provider returned error", code: 400, metadata: { raw: "prompt is too long: 9 > 8" } }),
    CONTEXT,
    false,
  ],
  [null, openAi({ code: "context_length_exceeded" }), CONTEXT, false],
  [null, openAi({ message: "prompt is too long: 9 tokens > 8 maximum" }), CONTEXT, false],
  // Near misses that must not shift anything
  [400, openAi({ message: "max_tokens is too large: 999999" }), "PROVIDER_REJECTED_REQUEST", false],
  [400, openAi({ message: "Invalid image: too long edge" }), "PROVIDER_REJECTED_REQUEST", false],
  [404, openAi({ code: "model_not_found", message: "no such model" }), "PROVIDER_REJECTED_REQUEST", false],
  [503, "context canceled", "PROVIDER_UNAVAILABLE", true],
  [529, "overloaded, too many tokens in flight", "PROVIDER_UNAVAILABLE", true],
  [500, "the request exceeds the available context size", "PROVIDER_UNAVAILABLE", true],
  // Rate limits that speak of tokens
  [
    429,
    "Request too large for model on tokens per min: limit 30000, requested 31000. The input or output tokens must be reduced.",
    "PROVIDER_RATE_LIMITED",
    true,
  ],
  [429, openAi({ code: "context_length_exceeded" }), "PROVIDER_RATE_LIMITED", true],
  [413, openAi({ code: "rate_limit_exceeded", message: "reduce your message size" }), "PROVIDER_RATE_LIMITED", false],
  [429, openAi({ code: "insufficient_quota" }), "PROVIDER_RATE_LIMITED", false],
  [402, openAi({ message: "Insufficient Balance" }), "PROVIDER_RATE_LIMITED", false],
  [null, openAi({ message: "Rate limit reached: maximum context length" }), "PROVIDER_RATE_LIMITED", true],
  [null, openAi({ code: 429, message: "slow down" }), "PROVIDER_RATE_LIMITED", true],
  // The rest
  [401, openAi({ code: "invalid_api_key" }), "PROVIDER_AUTH_FAILED", false],
  [403, "", "PROVIDER_AUTH_FAILED", false],
  [400, JSON.stringify([{ error: { code: 400, message: "API key not valid." } }]), "PROVIDER_AUTH_FAILED", false],
  [403, openAi({ message: "Your input was flagged" }), "PROVIDER_CONTENT_FILTERED", false],
  [400, openAi({ code: "content_filter" }), "PROVIDER_CONTENT_FILTERED", false],
  [400, openAi({ innererror: { code: "ResponsibleAIPolicyViolation" } }), "PROVIDER_CONTENT_FILTERED", false],
  [408, "", "PROVIDER_TIMEOUT", true],
  [504, "<html>", "PROVIDER_TIMEOUT", true],
  [500, "", "PROVIDER_UNAVAILABLE", true],
  [302, "maximum context length", "PROVIDER_UNAVAILABLE", false],
  [422, "{}", "PROVIDER_REJECTED_REQUEST", false],
  [null, openAi({ type: "overloaded_error" }), "PROVIDER_UNAVAILABLE", true],
  [null, openAi({ type: "constructor", code: "__proto__" }), "PROVIDER_STREAM_INTERRUPTED", true],
  [null, "not json at all", "PROVIDER_STREAM_INTERRUPTED", true],
];

describe("classifyError", () => {
  it.each(SAMPLES)("%s %s → %s, retryable %s", (status, body, code, retryable) => {
    const error = classifyError({ status, body, retryAfterMs: null });
    expect([error.code, error.retryable, error.status]).toEqual([code, retryable, status]);
  });

  it("keeps upstream text out of the error", () => {
    const secret = "sk-upstream-said-this";
    for (const status of [null, 302, 400, 401, 402, 403, 404, 408, 413, 429, 500, 529]) {
      const error = classifyError({ status, body: openAi({ message: secret, code: secret }), retryAfterMs: 5 });
      expect(`${JSON.stringify(error)} ${error.stack}`).not.toContain(secret);
    }
  });

  it("hands on what the provider asked us to wait", () => {
    expect(classifyError({ status: 429, body: "", retryAfterMs: 20_000 }).retryAfterMs).toBe(20_000);
  });
});
