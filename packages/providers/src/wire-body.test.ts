import type { ChatRequest } from "@shiftwork/pipeline";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { streamingRequest, wireBody } from "./wire-body.ts";

const REQUEST: ChatRequest = { model: "m", messages: [{ role: "user", content: "hi" }], max_tokens: 5 };

describe("wireBody", () => {
  it("adds what streaming needs behind what is there", () => {
    expect(wireBody(REQUEST)).toBe(
      '{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":5,"stream":true,"stream_options":{"include_usage":true}}',
    );
  });

  it("leaves what the request decides", () => {
    const asked = { ...REQUEST, stream_options: { include_usage: false } };
    expect(streamingRequest(asked)).toEqual({ ...asked, stream: true });
    expect(streamingRequest({ ...REQUEST, stream: false })).toEqual({ ...REQUEST, stream: false });
  });

  it("gives the same bytes again for a stored body", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string({ unit: "binary" }), (extra, content) => {
        const body = wireBody({ ...extra, model: "m", messages: [{ role: "user", content }], max_tokens: 1 });
        expect(wireBody(JSON.parse(body) as ChatRequest)).toBe(body);
      }),
      { seed: 20260101, numRuns: 200 },
    );
  });
});
