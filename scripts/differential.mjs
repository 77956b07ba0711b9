// `npm run -s differential [-- COUNT SEED]`: both exact counters against the tokenizer of their makers, on every code point
// in context and COUNT random texts (default 500,000). Prints JSON; ends with 1 when a count differs. Takes minutes.
import { get_encoding } from "@dqbd/tiktoken";
import { codePointTexts, EDGE_TEXTS, fuzzTexts, REAL_TEXTS } from "../packages/pipeline/src/testing/token-texts.ts";
import { countEncoded } from "../packages/pipeline/src/tokens/encoder.ts";

const [count = 500_000, seed = 1] = process.argv.slice(2).map(Number);
const report = ["o200k_base", "cl100k_base"].map(compare);
console.log(JSON.stringify({ seed, encodings: report }, null, 2));
process.exitCode = report.some(({ mismatches }) => mismatches > 0) ? 1 : 0;

function compare(encoding) {
  const oracle = get_encoding(encoding);
  const groups = {
    real: Object.values(REAL_TEXTS),
    edges: EDGE_TEXTS,
    codePoints: codePointTexts(1),
    fuzz: fuzzTexts(seed, count),
  };
  const result = { encoding, texts: {}, mismatches: 0, first: [] };
  for (const [group, texts] of Object.entries(groups)) {
    result.texts[group] = 0;
    for (const text of texts) {
      result.texts[group] += 1;
      const [tokens, expected] = [countEncoded(encoding, text), oracle.encode_ordinary(text).length];
      if (tokens === expected) continue;
      result.mismatches += 1;
      if (result.first.length < 5) result.first.push({ text, tokens, expected });
    }
  }
  oracle.free();
  return result;
}
