import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildPrompt } from "./build-prompt.ts";
import type { ChatRequestMessage } from "./prompt.ts";
import { runNow } from "./shift/plan.ts";
import { shiftContext } from "./shift/shift-context.ts";
import { shortenBlock } from "./shift/shorten-block.ts";
import { tokenCounterFor } from "./shift/token-counter.ts";
import { countRequest } from "./stages/verify.ts";
import {
  aBlock,
  aCharacter,
  aConversation,
  aLorebook,
  aLoreEntry,
  aMessage,
  anInput,
  answering,
  calling,
} from "./testing/conversation.ts";
import { countMessage, createCounter } from "./tokens/counter.ts";
import { PROFILES, profileFor } from "./tokens/profiles.ts";

// The kinds of fault behind the reported cases on token counts and tokenizers, each over all its variants.
const MODELS = ["gpt-4o", "gpt-4", "claude-sonnet-4", "llama-3.1-8b", "qwen3-8b", "deepseek-chat", "some-new-model"];
const SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|begin_of_text|>", "<|eot_id|>", "<|fim_prefix|>"];
const signal = new AbortController().signal;
const image = (data: string) => ({ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } });

describe("reported failures in counting", () => {
  it("cnt-03: every image costs what an image costs, however deep it stands, and so does what nobody knows", () => {
    const { countTokens } = tokenCounterFor("gpt-4o");
    const source = { type: "base64", media_type: "image/png", data: "AAAA" };
    const parts = [
      image("AAAA"),
      { type: "image", source },
      { type: "input_audio", input_audio: {} },
      { type: "new" },
      null,
    ];
    const wraps = [
      (part: unknown) => [part],
      (part: unknown) => [{ type: "tool_result", content: [part] }],
      (part: unknown) => [
        { type: "tool_result", content: [{ type: "group", content: [{ type: "text", text: "see" }, part] }] },
      ],
    ];
    for (const part of parts) {
      for (const wrap of wraps) {
        const cost = (content: readonly unknown[]) => countTokens({ role: "tool", tool_call_id: "c", content });
        expect(cost(wrap(part)) - cost([])).toBeGreaterThanOrEqual(765);
        expect(cost([...wrap(part), ...wrap(part)]) - cost(wrap(part))).toBeGreaterThanOrEqual(765);
      }
    }
    const nested = [{ type: "tool_result", content: [{ type: "text", text: "The lamp is lit. ".repeat(50) }] }];
    expect(countTokens({ role: "user", content: nested })).toBe(
      countTokens({ role: "user", content: "The lamp is lit. ".repeat(50) }),
    );
  });

  it("cnt-04: an image costs the same whatever its data, which is never tokenised, and throws nothing else out", () => {
    const { countTokens } = tokenCounterFor("gpt-4o");
    const asking = (data: string) => ({
      id: "u",
      role: "user",
      content: [{ type: "text", text: "what is this?" }, image(data)],
    });
    expect(countTokens(asking("iVBORw0KGgo".repeat(20_000)))).toBe(countTokens(asking("AAAA")));
    const history = [
      { id: "s", role: "system", content: "Be brief." },
      { id: "h", role: "assistant", content: "Hello." },
    ];
    const { kept } = shiftContext([...history, asking("iVBORw0KGgo".repeat(20_000))], countTokens, 8_000);
    expect(kept.map((message) => ("id" in message ? message.id : null))).toEqual(["s", "h", "u"]);
  });

  const text = fc.oneof(fc.string({ maxLength: 30 }), fc.string({ unit: "binary", maxLength: 20 }));
  const call = fc.record({ id: text, name: text, arguments: text });
  const message = fc.record(
    {
      role: fc.constantFrom("system", "user", "assistant", "tool"),
      content: fc.oneof(
        text,
        fc.constant(null),
        fc.array(fc.oneof(text, fc.record({ text }), fc.constant(image("AA"))), { maxLength: 3 }),
      ),
      name: text,
      tool_calls: fc.array(call, { maxLength: 2 }),
      tool_call_id: text,
    },
    { requiredKeys: ["role", "content"] },
  );

  it.each(MODELS)("cnt-07: with %s a message never lowers a count, and a count is the sum of its messages", (model) => {
    const { countTokens } = tokenCounterFor(model);
    fc.assert(
      fc.property(fc.array(message, { maxLength: 4 }), message, (history, added) => {
        const total = (messages: typeof history) => messages.reduce((sum, one) => sum + countTokens(one), 0);
        expect(total([...history, added])).toBeGreaterThan(total(history));
        expect(total([added, ...history])).toBe(total(history) + countTokens(added));
      }),
      { seed: 20_260_108, numRuns: 1_500 },
    );
  });

  it.each(MODELS)("cnt-07: with %s a longer text never costs less", (model) => {
    const { countText } = profileFor(model);
    fc.assert(
      fc.property(text, text, (left, right) => {
        expect(countText(`${left}\n\n${right}`)).toBeGreaterThanOrEqual(Math.min(countText(left), countText(right)));
      }),
      { seed: 20_260_109, numRuns: 500 },
    );
  });

  it.each(MODELS)("cnt-08: with %s rows, budget and payload come from one counter", async (model) => {
    const lines = [
      "灯台守は毎晩、夕暮れに階段を上る。",
      "「大丈夫よ」と彼女は言った。",
      "The storm is near — 嵐が近い。",
    ];
    const messages = Array.from({ length: 200 }, (_, at) =>
      aMessage(at + 1, { content: `${lines[at % 3] ?? ""}${at}` }),
    );
    const lorebooks = [aLorebook([aLoreEntry("light", { content: lines.join("\n") })])];
    const conversation = aConversation([...messages, aMessage(201)], { character: aCharacter(), lorebooks });
    const settings = {
      model,
      modelFacts: { contextLimit: 4_000, maxOutputTokens: 400 },
      budget: { reservedForReply: 400 },
    };
    const first = await buildPrompt(anInput(conversation, settings), signal);
    const again = await buildPrompt(anInput(conversation, settings), signal);
    const kept = first.blocks.filter(({ included }) => included);
    expect(kept.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0)).toBe(first.budget.promptTokens);
    expect(first.request && countRequest(createCounter(profileFor(model)), first.request)).toBe(
      first.budget.promptTokens,
    );
    expect(again.budget).toEqual(first.budget);
    expect(kept.length).toBeLessThan(200);
  });
});

describe("reported failures of tokenizers", () => {
  it.each(MODELS)(
    "tkz-01: with %s special-token text counts and goes out as text, wherever it stands",
    async (model) => {
      const marked = SPECIAL.join(" and ");
      const conversation = aConversation(
        [
          aMessage(1, { content: marked }),
          calling(2, ["c"]),
          answering(3, "c", { content: marked }),
          aMessage(5, { content: marked }),
        ],
        {
          character: aCharacter({ description: marked }),
          persona: { id: "p", name: "Max", description: marked },
          lorebooks: [aLorebook([aLoreEntry("light", { content: marked })])],
        },
      );
      const { request, error } = await buildPrompt(anInput(conversation, { model }), signal);
      expect(error).toBeNull();
      const sent = JSON.stringify(request);
      expect(sent.split(JSON.stringify(marked).slice(1, -1))).toHaveLength(1 + 6);
      const tokens = profileFor(model).countText(marked);
      expect(tokens).toBeGreaterThanOrEqual(SPECIAL.length * 4);
    },
  );

  it.each(Object.values(PROFILES))("tkz-02: $id counts no special token as one", ({ countText }) => {
    for (const marker of SPECIAL) expect(countText(marker.repeat(200))).toBeGreaterThanOrEqual(600);
    expect(PROFILES["openai:o200k_base"].countText("<|endoftext|>".repeat(200))).toBe(1_201);
  });

  it("tkz-06: shortening to any number of tokens keeps whole characters, a prefix and a suffix, and the limit", () => {
    const content = "🪑𠮷ก็".repeat(30);
    const counter = createCounter(profileFor("gpt-4o"));
    const count = ({ content: text }: { readonly content: string }): number =>
      countMessage(counter.profile, { role: "tool", content: text } satisfies ChatRequestMessage);
    const block = { ...aBlock("b", { content }), tokens: count({ content }) };
    let shortened = 0;
    for (let limit = 1; limit < block.tokens; limit += 1) {
      const short = runNow(shortenBlock(block, limit, { count }));
      if (short === null) continue;
      shortened += 1;
      const [head = "", tail = ""] = short.content.split(/\n?\[… \d+ characters left out …\]\n?/u);
      expect(content.startsWith(head) && content.endsWith(tail)).toBe(true);
      expect(short.content).not.toMatch(/\p{Surrogate}|\ufffd/u);
      expect(count(short)).toBeLessThanOrEqual(limit);
    }
    expect(shortened).toBeGreaterThan(60);
  });
});
