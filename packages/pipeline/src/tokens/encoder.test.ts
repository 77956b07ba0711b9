import { get_encoding } from "@dqbd/tiktoken";
import { describe, expect, it } from "vitest";
import { codePointTexts, EDGE_TEXTS, fuzzTexts, REAL_TEXTS } from "../testing/token-texts.ts";
import { SHORT_PIECE } from "./bpe/merge-short.ts";
import { countEncoded, type Encoding } from "./encoder.ts";

describe("countEncoded", () => {
  it("counts special-token strings as the plain text they are", () => {
    expect(countEncoded("o200k_base", "<|endoftext|>".repeat(200))).toBe(1_201);
  });

  it("gives the vocabulary's own counts", () => {
    expect(countEncoded("o200k_base", "hello world")).toBe(2);
    expect(countEncoded("cl100k_base", "hello world")).toBe(2);
    expect(countEncoded("o200k_base", "")).toBe(0);
  });

  it("counts what is not a string as its JSON text", () => {
    for (const value of [null, undefined]) expect(countEncoded("o200k_base", value)).toBe(0);
    expect(countEncoded("o200k_base", { a: [1, 2] })).toBe(countEncoded("o200k_base", '{"a":[1,2]}'));
    expect(countEncoded("o200k_base", Symbol("x"))).toBe(0);
  });

  it("counts a lone surrogate as the U+FFFD it is sent as", () => {
    expect(countEncoded("o200k_base", "a\ud800b")).toBe(countEncoded("o200k_base", "a\ufffdb"));
  });

  it("remembers nothing wrong: a second count of many texts gives what the first gave", () => {
    const texts = [...fuzzTexts(11, 500)];
    const first = texts.map((text) => countEncoded("o200k_base", text));
    // More merged pieces than are kept.
    for (let made = 0; made < 50_000; made += 1) countEncoded("o200k_base", `q${made.toString(36)}xq`);
    expect(texts.map((text) => countEncoded("o200k_base", text))).toEqual(first);
  });
});

describe.each<Encoding>(["o200k_base", "cl100k_base"])("%s, against the tokenizer of its makers", (encoding) => {
  const oracle = get_encoding(encoding);

  function expectSameCounts(texts: Iterable<string>): void {
    for (const text of texts) {
      const tokens = countEncoded(encoding, text);
      const expected = oracle.encode_ordinary(text).length;
      if (tokens !== expected) expect({ text, tokens }).toEqual({ text, tokens: expected });
    }
  }

  it("agrees on prose, code and JSON, whole and long", () => {
    for (const text of Object.values(REAL_TEXTS)) expectSameCounts([text, `${text}\n`.repeat(20)]);
  });

  it("agrees on what tokenizers trip over", () => {
    expectSameCounts(EDGE_TEXTS);
    expectSameCounts(EDGE_TEXTS.flatMap((left) => EDGE_TEXTS.map((right) => `${left}${right}`)));
  });

  it.each([
    ["the two ways to merge", SHORT_PIECE],
    ["what is remembered and what is not", 128],
  ])("agrees on every piece length around the border between %s", (_name, border) => {
    for (let length = border - 10; length <= border + 10; length += 1)
      expectSameCounts(["xqz".repeat(length).slice(0, length), "é".repeat(length / 2), "=".repeat(length)]);
  });

  it("agrees on 5,000 random texts", () => {
    expectSameCounts(fuzzTexts(20_260_105, 5_000));
  });

  it("agrees on code points in context", () => {
    expectSameCounts(codePointTexts(47));
  });
});
