import type { ChatRequest } from "@shiftwork/pipeline";
import { describe, expect, it } from "vitest";
import { createEcho } from "./echo.ts";
import { callOf, collect, textOf } from "./testing/stream-call.ts";

const echo = createEcho({ wordDelayMs: 0 });

function asking(content: string): ChatRequest {
  return {
    model: "echo",
    max_tokens: 5,
    messages: [
      { role: "system", content: "s" },
      { role: "user", content },
    ],
  };
}
const replyTo = async (content: string) => textOf(await collect(echo.stream(callOf({ request: asking(content) }))));

describe("echo", () => {
  it("says what it is, counts the messages and repeats the last user message", async () => {
    expect(await replyTo("Where is the  old map?")).toBe(
      "This is the echo provider: no model was called. It received 2 messages; the last one from the user says: Where is the  old map?",
    );
  });

  it("streams word by word and reports no usage", async () => {
    const parts = await collect(echo.stream(callOf({ request: asking("/repeat 3") })));
    expect(parts).toEqual([
      { type: "text", delta: "word-1 " },
      { type: "text", delta: "word-2 " },
      { type: "text", delta: "word-3" },
      { type: "end", finishReason: "stop" },
    ]);
  });

  it("bounds what /repeat may ask for", async () => {
    expect((await replyTo("please /repeat 999999")).split(" ")).toHaveLength(2_000);
    expect(await replyTo("/repeat 0")).toBe("Nothing to repeat.");
    expect(await replyTo("/repeat x")).toContain("says: /repeat x");
  });

  it("cuts a long message between characters", async () => {
    const reply = await replyTo(`x${"😀".repeat(1_500)}`);
    expect(reply.endsWith("😀…")).toBe(true);
    expect(/\p{Surrogate}/u.test(reply)).toBe(false);
  });

  it("copes with a request without a user message", async () => {
    const request: ChatRequest = { model: "echo", max_tokens: 5, messages: [{ role: "system", content: "s" }] };
    expect(textOf(await collect(echo.stream(callOf({ request }))))).toContain("1 message; none of them");
  });

  it("stops between words", async () => {
    const stop = new AbortController();
    const call = callOf({ request: asking("/repeat 2000"), signal: stop.signal });
    const words: string[] = [];
    const run = async () => {
      for await (const part of echo.stream(call)) {
        if (part.type === "text") words.push(part.delta);
        if (words.length === 3) stop.abort("enough");
      }
    };
    await expect(run()).rejects.toBe("enough");
    expect(words).toHaveLength(3);
  });

  it("stops while it waits for the next word", async () => {
    const stop = new AbortController();
    const slow = createEcho({ wordDelayMs: 1_000_000 }).stream(callOf({ signal: stop.signal }));
    const first = slow[Symbol.asyncIterator]().next();
    stop.abort("enough");
    await expect(first).rejects.toBe("enough");
  });
});
