// Exact counters against other implementations, on prose, edge cases, code points in context and random texts. Prints JSON;
// ends with 1 when a count differs. Takes minutes.
//   npm run -s differential [-- COUNT SEED]            OpenAI's vocabularies, against their makers' tokenizer
//   npm run -s differential -- tokenizer FILE [COUNT]  a tokenizer.json, against Hugging Face's library
import { get_encoding } from "@dqbd/tiktoken";
import { Tokenizer } from "@huggingface/tokenizers";
import { readFileSync } from "node:fs";
import { codePointTexts, EDGE_TEXTS, fuzzTexts, REAL_TEXTS } from "../packages/pipeline/src/testing/token-texts.ts";
import { classInString, OTHER } from "../packages/pipeline/src/tokens/bpe/character-class.ts";
import { countEncoded } from "../packages/pipeline/src/tokens/encoder.ts";
import { compileTokenizer } from "../packages/pipeline/src/tokens/tokenizer-json/compile-tokenizer.ts";
import { parseTokenizer } from "../packages/pipeline/src/tokens/tokenizer-json/read-json.ts";

const [first = "500000", ...rest] = process.argv.slice(2);
const report =
  first === "tokenizer" ? againstHuggingFace(...rest) : againstTiktoken(Number(first), ...rest.map(Number));
console.log(JSON.stringify(report, null, 2));
process.exitCode = report.some(({ mismatches }) => mismatches > 0) ? 1 : 0;

function againstTiktoken(count, seed = 1) {
  return ["o200k_base", "cl100k_base"].map((encoding) => {
    const oracle = get_encoding(encoding);
    const ours = (text) => countEncoded(encoding, text);
    return {
      encoding,
      seed,
      ...compare(ours, (text) => oracle.encode_ordinary(text).length, textGroups(count, seed, 1)),
    };
  });
}

function againstHuggingFace(file, count = "20000") {
  const tokenizer = parseTokenizer(readFileSync(file, "utf8"));
  const startedAt = performance.now();
  const ours = compileTokenizer(tokenizer);
  const compileMs = Math.round(performance.now() - startedAt);
  // In a user's text an added token is text, and nothing is put around it.
  const oracle = new Tokenizer({ ...tokenizer, added_tokens: [], post_processor: null }, {});
  const theirs = (text) => oracle.encode(text, { add_special_tokens: false }).ids.length;
  const groups = textGroups(Number(count), 1, 101);
  const compared = compare(
    (text) => ours(known(text)),
    (text) => theirs(known(text)),
    groups,
  );
  const counts = Object.fromEntries(Object.entries(REAL_TEXTS).map(([name, text]) => [name, ours(text)]));
  return [{ file, compileMs, ...compared, counts }];
}

/** Without what cannot be sent, and what Node's Unicode, by which Hugging Face's library goes, knows and the table does not. */
function known(text) {
  const isNewer = (character) => classInString(character, 0) === OTHER;
  return text
    .replaceAll(/\p{Surrogate}/gu, "\ufffd")
    .replaceAll(/[\p{L}\p{M}\p{N}\p{P}\p{S}]/gu, (character) => (isNewer(character) ? "\ufffd" : character));
}

function textGroups(count, seed, step) {
  return {
    real: Object.values(REAL_TEXTS),
    edges: EDGE_TEXTS,
    codePoints: codePointTexts(step),
    fuzz: fuzzTexts(seed, count),
  };
}

function compare(ours, theirs, groups) {
  const result = { texts: {}, mismatches: 0, first: [] };
  for (const [group, texts] of Object.entries(groups)) {
    result.texts[group] = 0;
    for (const text of texts) {
      result.texts[group] += 1;
      const [tokens, expected] = [ours(text), theirs(text)];
      if (tokens === expected) continue;
      result.mismatches += 1;
      if (result.first.length < 5) result.first.push({ text, tokens, expected });
    }
  }
  return result;
}
