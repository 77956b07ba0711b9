import { Tokenizer } from "@huggingface/tokenizers";
import { describe, expect, it } from "vitest";
import { EDGE_TEXTS, fuzzTexts, REAL_TEXTS } from "../../testing/token-texts.ts";
import { tokenizerFile, type TokenizerFileOptions } from "../../testing/tokenizer-file.ts";
import { compileTokenizer } from "./compile-tokenizer.ts";
import { PRE_TOKENISERS } from "./pre-tokenisers.ts";
import { parseTokenizer } from "./read-json.ts";
import { TokenizerError } from "./tokenizer-error.ts";

/** What the makers of the format count. Characters newer than the frozen table are known to the host, not to them. */
function expectSameCounts(file: ReturnType<typeof tokenizerFile>, texts: Iterable<string>): void {
  const count = compileTokenizer(file);
  const oracle = new Tokenizer(file, {});
  for (const each of texts) {
    const text = each.replaceAll(/[\p{Surrogate}\u{323b0}-\u{33479}]/gu, "\ufffd");
    const [tokens, expected] = [count(text), oracle.encode(text, { add_special_tokens: false }).ids.length];
    if (tokens !== expected) expect({ text, tokens }).toEqual({ text, tokens: expected });
  }
}

const preTokenisers = Object.keys(PRE_TOKENISERS) as (keyof typeof PRE_TOKENISERS)[];
const files: readonly (readonly [string, TokenizerFileOptions])[] = preTokenisers.flatMap((preTokeniser) => [
  [`${preTokeniser}, trained`, { preTokeniser, merges: "one", normalizer: { type: "NFC" } }],
  [`${preTokeniser}, every pair, pieces taken whole`, { preTokeniser, merges: "all", ignoreMerges: true }],
]);

describe.each(files)("a tokenizer.json of %s", (_name, options) => {
  const file = tokenizerFile(options);

  it("is counted by as its makers' own library counts", () => {
    expectSameCounts(file, [...Object.values(REAL_TEXTS), ...EDGE_TEXTS, ...fuzzTexts(20_260_107, 1_500)]);
  });
});

describe("compileTokenizer", () => {
  const valid = () => tokenizerFile({ preTokeniser: "o200k", merges: "one" });

  it("merges only pairs that are listed, in the order in which they are listed", () => {
    const file = valid();
    const merges = file.model.merges.toReversed();
    expectSameCounts({ ...file, model: { ...file.model, merges } }, [
      ...Object.values(REAL_TEXTS),
      ...fuzzTexts(9, 300),
    ]);
    const few = merges.filter((_, at) => at % 3 > 0);
    expectSameCounts({ ...file, model: { ...file.model, merges: few } }, Object.values(REAL_TEXTS));
  });

  it("reads merges as strings too, and the last rank of a pair that is listed twice", () => {
    const file = valid();
    const merges = (file.model.merges as string[][]).map((pair) => pair.join(" "));
    const texts = Object.values(REAL_TEXTS);
    expectSameCounts({ ...file, model: { ...file.model, merges } }, texts);
    const twice = [...merges.slice(-50), ...merges];
    const [once, again] = [merges, twice].map((list) =>
      compileTokenizer({ ...file, model: { ...file.model, merges: list } }),
    );
    expect(texts.map((text) => again?.(text))).toEqual(texts.map((text) => once?.(text)));
  });

  it("counts added tokens as the plain text they are in a user's text", () => {
    const file = valid();
    const added = { ...file, added_tokens: [{ id: 1, content: "<|im_end|>", special: true }] };
    added.model.vocab["<｜end▁of▁sentence｜>"] = 4_001;
    added.added_tokens.push({ id: 2, content: "<｜end▁of▁sentence｜>", special: true });
    const count = compileTokenizer(added);
    for (const text of ["<|im_end|>", "<｜end▁of▁sentence｜>"])
      expect(count(text)).toBe(compileTokenizer(valid())(text));
    expect(count("<|im_end|>".repeat(100))).toBeGreaterThan(300);
  });

  it("composes what the file says is composed", () => {
    const composed = compileTokenizer({ ...valid(), normalizer: { type: "Sequence", normalizers: [{ type: "NFC" }] } });
    expect(composed("e\u0301te\u0301")).toBe(composed("été"));
  });

  const broken: readonly (readonly [pointer: string, change: (file: ReturnType<typeof valid>) => unknown])[] = [
    ["", () => []],
    ["/model/type", (file) => ({ ...file, model: { ...file.model, type: "Unigram" } })],
    ["/model/byte_fallback", (file) => ({ ...file, model: { ...file.model, byte_fallback: true } })],
    ["/model/dropout", (file) => ({ ...file, model: { ...file.model, dropout: 0.1 } })],
    ["/model/end_of_word_suffix", (file) => ({ ...file, model: { ...file.model, end_of_word_suffix: "</w>" } })],
    ["/model/vocab", (file) => ({ ...file, model: { ...file.model, vocab: null } })],
    ["/model/vocab", (file) => ({ ...file, model: { ...file.model, vocab: { ...file.model.vocab, "▁the": 9 } } })],
    ["/model/vocab", (file) => ({ ...file, model: { ...file.model, vocab: { a: 0 }, merges: [] } })],
    [
      "/model/vocab",
      (file) => ({ ...file, model: { ...file.model, vocab: { ...file.model.vocab, ["x".repeat(2_000)]: 9 } } }),
    ],
    ["/model/merges", (file) => ({ ...file, model: { ...file.model, merges: "a b" } })],
    ["/model/merges/0", (file) => ({ ...file, model: { ...file.model, merges: ["a b c"] } })],
    ["/model/merges/0", (file) => ({ ...file, model: { ...file.model, merges: [["zq", "qz"]] } })],
    ["/normalizer/type", (file) => ({ ...file, normalizer: { type: "Lowercase" } })],
    ["/pre_tokenizer", (file) => ({ ...file, pre_tokenizer: null })],
    ["/pre_tokenizer/type", (file) => ({ ...file, pre_tokenizer: { type: "Metaspace" } })],
    [
      "/pre_tokenizer/pretokenizers",
      (file) => withStep(file, 0, { type: "Split", pattern: { Regex: "x" }, behavior: "Isolated" }),
    ],
    ["/pre_tokenizer/pretokenizers/0/behavior", (file) => withStep(file, 0, { type: "Split", behavior: "Removed" })],
    [
      "/pre_tokenizer/pretokenizers/0/pattern/Regex",
      (file) => withStep(file, 0, { type: "Split", behavior: "Isolated", pattern: { String: "x" } }),
    ],
    [
      "/pre_tokenizer/pretokenizers/1/add_prefix_space",
      (file) => withStep(file, 1, { type: "ByteLevel", add_prefix_space: true }),
    ],
    [
      "/pre_tokenizer/pretokenizers/1/use_regex",
      (file) => withStep(file, 1, { type: "ByteLevel", add_prefix_space: false }),
    ],
  ];

  it.each(broken)("refuses what it cannot count by exactly, naming %s", (pointer, change) => {
    const error = thrownBy(() => compileTokenizer(change(valid())));
    expect(error).toBeInstanceOf(TokenizerError);
    expect(error).toMatchObject({ code: "TOKENIZER_UNSUPPORTED", pointer });
  });

  function withStep(file: ReturnType<typeof valid>, at: number, step: unknown): unknown {
    const pretokenizers = file.pre_tokenizer.pretokenizers.with(at, step);
    return { ...file, pre_tokenizer: { ...file.pre_tokenizer, pretokenizers } };
  }
});

describe("parseTokenizer", () => {
  it("refuses what is no JSON, or too long to be read", () => {
    expect(parseTokenizer("{}")).toEqual({});
    expect(thrownBy(() => parseTokenizer("{"))).toBeInstanceOf(TokenizerError);
    expect(thrownBy(() => parseTokenizer(" ".repeat(36_000_001)))).toBeInstanceOf(TokenizerError);
  });
});

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return null;
}
