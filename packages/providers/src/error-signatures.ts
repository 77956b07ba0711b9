/**
 * How providers say things, collected from their public documentation and bug reports. Codes are compared whole and in
 * lower case, texts are matched only after status and code left the question open. The patterns hold no nested
 * repetition, so matching is linear.
 */

export const CONTEXT_LENGTH_CODES: readonly string[] = [
  "context_exceeded",
  "context_length_exceeded",
  "context_window_exceeded",
  "contextwindowexceedederror",
  "exceed_context_size_error",
  "input_too_long",
  "model_max_prompt_tokens_exceeded",
  "prompt_too_long",
  "request_too_large",
  "tokens_limit_reached",
];

export const CONTEXT_LENGTH_TEXTS: readonly RegExp[] = [
  /maximum context length/i,
  /maximum prompt length/i,
  /maximum allowed input length/i,
  /maximum model length/i,
  /prompt (?:is )?too long/i,
  /prompt exceeds (?:the )?max/i,
  /input is too long for (?:the )?requested model/i,
  /exceeds? (?:the |this |your )?(?:model'?s? )?(?:maximum |available |configured )?context (?:length|size|window|limit)/i,
  /exceeded (?:the )?(?:max(?:imum)? )?context (?:length|size|window|limit)/i,
  /context window exceeds/i,
  /exceeds? (?:the )?max_(?:seq|sequence|model)_len/i,
  /context (?:length|size|window) has been exceeded/i,
  /loaded with (?:a )?context length of only/i,
  /range of input length should be/i,
  /max(?:imum)? input length is/i,
  /(?:greater|longer|larger|more) than (?:the )?(?:max_seq_len|(?:model'?s? )?context (?:length|size|window))/i,
  /but the configured context size is/i,
  /exceeded model token limit/i,
  /input token count\b.{0,40}exceeds the maximum/i,
  /tokens in the prompt cannot exceed/i,
  /reduce the length of (?:the |your )?(?:input|messages|prompt|chat)/i,
  /`?inputs`? (?:tokens|must have less than)/i,
];

export const OUTPUT_LIMIT_TEXTS: readonly RegExp[] = [/\bmax_(?:completion_|output_|new_)?tokens\b/i];

export const RATE_LIMIT_CODES: readonly string[] = ["rate_limit_exceeded", "rate_limit_error", "too_many_requests"];
export const RATE_LIMIT_TEXTS: readonly RegExp[] = [/rate.?limit/i, /too many requests/i, /tokens per min/i];

export const QUOTA_CODES: readonly string[] = [
  "insufficient_quota",
  "billing_hard_limit_reached",
  "billing_not_active",
  "insufficient_balance",
  "credit_balance_too_low",
];
export const QUOTA_TEXTS: readonly RegExp[] = [
  /exceeded your current quota/i,
  /insufficient (?:balance|credit|quota)/i,
  /credit balance is too low/i,
];

export const CONTENT_FILTER_CODES: readonly string[] = [
  "content_filter",
  "content_policy_violation",
  "responsibleaipolicyviolation",
  "moderation_blocked",
];
export const CONTENT_FILTER_TEXTS: readonly RegExp[] = [
  /content (?:management|usage|safety) policy/i,
  /content exists risk/i,
  /(?:input|prompt|request) was flagged/i,
  /flagged by (?:the |our )?(?:moderation|safety|content)/i,
];

export const AUTH_CODES: readonly string[] = ["invalid_api_key", "authentication_error", "invalid_authentication"];
export const AUTH_TEXTS: readonly RegExp[] = [/api key not valid/i, /(?:invalid|incorrect) api key/i];

/** The status a machine code stands for, where an error arrives without one: inside a stream that began with 200. */
export const STATUS_OF_CODE: ReadonlyMap<string, number> = new Map([
  ["invalid_request_error", 400],
  ["authentication_error", 401],
  ["invalid_api_key", 401],
  ["permission_error", 403],
  ["not_found_error", 404],
  ["model_not_found", 404],
  ["request_too_large", 413],
  ["rate_limit_error", 429],
  ["rate_limit_exceeded", 429],
  ["too_many_requests", 429],
  ["insufficient_quota", 429],
  ["api_error", 500],
  ["internal_server_error", 500],
  ["server_error", 500],
  ["overloaded_error", 529],
  ["timeout_error", 504],
]);

/** How the window's size is named beside "too long", in the provider's tokens. */
export const TOLD_LIMIT_TEXTS: readonly RegExp[] = [
  /maximum (?:context|prompt|model) length(?: is| of|:)? ([\d,]{1,12})/i,
  /with ([\d,]{1,12}) maximum context length/i,
  /max(?:imum)?(?: allowed)? input length (?:of|is) ([\d,]{1,12})/i,
  /> ([\d,]{1,12}) maximum/i,
  /context limit: [\d,]{1,12} \+ [\d,]{1,12} > ([\d,]{1,12})/i,
  /maximum number of tokens allowed \(([\d,]{1,12})\)/i,
  /max_seq(?:uence)?_len(?:gth)?:? `?([\d,]{1,12})/i,
  /(?:configured|available) context size (?:is |\()([\d,]{1,12})/i,
  /model token limit: ([\d,]{1,12})/i,
  /prompt cannot exceed ([\d,]{1,12})/i,
  /must (?:be <=|have less than) ([\d,]{1,12})/i,
  /context length of only ([\d,]{1,12})/i,
  /n_ctx: ([\d,]{1,12})/i,
  /context window of ([\d,]{1,12})/i,
  /range of input length should be \[\d{1,3}, ?([\d,]{1,12})\]/i,
  /context (?:length|size) \(([\d,]{1,12})/i,
  /while limit is ([\d,]{1,12})/i,
];

/** How the prompt's size is named; sizes that may include the reply's share are not here. */
export const TOLD_PROMPT_TEXTS: readonly RegExp[] = [
  /([\d,]{1,12}) in the (?:messages|prompt)/i,
  /messages resulted in ([\d,]{1,12})/i,
  /prompt (?:is )?too long: ([\d,]{1,12})/i,
  /context limit: ([\d,]{1,12}) \+/i,
  /input token count \(([\d,]{1,12})\)/i,
  /prompt (?:contains|has) ([\d,]{1,12})/i,
  /request contains ([\d,]{1,12})/i,
  /input length ([\d,]{1,12}) exceeds/i,
  /prompt \(length ([\d,]{1,12})\)/i,
  /given: ([\d,]{1,12}) and/i,
  /current length is ([\d,]{1,12})/i,
  /(?:request|input) \(([\d,]{1,12}) tokens\)/i,
  /requested tokens \(([\d,]{1,12})\)/i,
  /keep the first ([\d,]{1,12}) tokens/i,
  /n_keep: ([\d,]{1,12})/i,
  /you supplied ([\d,]{1,12})/i,
];
