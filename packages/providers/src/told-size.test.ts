import { describe, expect, it } from "vitest";
import { classifyError } from "./classify-error.ts";

const told = (body: string | object) =>
  classifyError({ status: 400, body: typeof body === "string" ? body : JSON.stringify(body), retryAfterMs: null });

describe("the sizes of a prompt that was too long", () => {
  it.each([
    ["maximum context length is 8192 tokens. However, you requested 9000 tokens", 8192, null],
    [
      "maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion)",
      8192,
      8000,
    ],
    ["maximum context length is 4097 tokens. However, your messages resulted in 4200 tokens.", 4097, 4200],
    ["prompt is too long: 210000 tokens > 200000 maximum", 200_000, 210_000],
    ["input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", 200_000, 190_000],
    [
      "The input token count (1,200,000) exceeds the maximum number of tokens allowed (1,048,576).",
      1_048_576,
      1_200_000,
    ],
    ["Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 32_768, 40_000],
    ["maximum prompt length is 131072 but the request contains 537812 tokens.", 131_072, 537_812],
    ["The decoder prompt (length 9000) is longer than the maximum model length of 8192.", 8192, 9000],
    ["`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 and 500", 4096, 4000],
    ["too many tokens: total number of tokens in the prompt cannot exceed 4081", 4081, null],
    ["Input length 131393 exceeds the maximum allowed input length of 131040 tokens.", 131_040, 131_393],
    ["Prompt too long: 5152 tokens exceeds max_seq_len 2048", 2048, 5152],
    ["Prompt has 256468 tokens, but the configured context size is 256000 tokens", 256_000, 256_468],
    ["Your request exceeded model token limit: 8192", 8192, null],
    [
      "Trying to keep the first 9000 tokens, but the model is loaded with context length of only 4096 tokens",
      4096,
      9000,
    ],
    ["greater than the context length (n_keep: 10247 >= n_ctx: 4096)", 4096, 10_247],
    ["Range of input length should be [1, 30720]", 30_720, null],
    ["request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096, 4390],
    ["Your input is too long. Max input length is 4096 tokens, but you supplied 5441 tokens.", 4096, 5441],
    ["Please reduce the length of the messages. Current length is 9135 while limit is 8192", 8192, 9135],
    ["Input is too long for requested model.", null, null],
    ["maximum context length is 0 tokens", null, null],
    ["maximum context length is 999999999999 tokens", null, null],
  ])("of %j are read: %s and %s", (message, limitTokens, promptTokens) => {
    const error = told({ error: { message } });
    expect([error.code, error.toldSize]).toEqual(["PROVIDER_CONTEXT_LENGTH", { limitTokens, promptTokens }]);
  });

  it("are read from llama.cpp's own fields", () => {
    const fields = {
      code: 400,
      type: "exceed_context_size_error",
      message: "too big",
      n_prompt_tokens: 1407,
      n_ctx: 256,
    };
    expect(told({ error: fields }).toldSize).toEqual({ limitTokens: 256, promptTokens: 1407 });
  });

  it("are nothing on any other error", () => {
    expect(told({ error: { message: "max_tokens is too large: 999999" } }).toldSize).toBeNull();
  });
});
