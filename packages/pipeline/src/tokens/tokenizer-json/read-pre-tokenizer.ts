import { PRE_TOKENISERS, type PreTokeniserName } from "./pre-tokenisers.ts";
import { arrayAt, expectOneOf, objectAt } from "./read-json.ts";
import { TokenizerError } from "./tokenizer-error.ts";

const POINTER = "/pre_tokenizer";

/** The pre-tokeniser that `pre_tokenizer` asks for: splits by known expressions, then bytes. */
export function readPreTokenizer(value: unknown): PreTokeniserName {
  const sequence = objectAt(value, POINTER);
  expectOneOf(sequence, "type", ["Sequence"], POINTER);
  const steps = arrayAt(sequence["pretokenizers"], `${POINTER}/pretokenizers`);
  const expressions = steps.slice(0, -1).map(expressionOf);
  expectBytes(steps.at(-1), steps.length - 1);
  const names = Object.keys(PRE_TOKENISERS) as PreTokeniserName[];
  const known = names.find((name) => PRE_TOKENISERS[name].expressions.join("\0") === expressions.join("\0"));
  if (known === undefined)
    throw new TokenizerError(
      `${POINTER}/pretokenizers`,
      `splits by an expression that is not known: ${expressions.join(" then ").slice(0, 200)}`,
    );
  return known;
}

function expressionOf(value: unknown, index: number): string {
  const pointer = `${POINTER}/pretokenizers/${index}`;
  const split = objectAt(value, pointer);
  expectOneOf(split, "type", ["Split"], pointer);
  expectOneOf(split, "behavior", ["Isolated"], pointer);
  expectOneOf(split, "invert", [undefined, false], pointer);
  const expression = objectAt(split["pattern"], `${pointer}/pattern`)["Regex"];
  if (typeof expression !== "string") throw new TokenizerError(`${pointer}/pattern/Regex`, "must be a string");
  // Some files hold the characters themselves where others escape them.
  return expression.replaceAll("\r", String.raw`\r`).replaceAll("\n", String.raw`\n`);
}

function expectBytes(value: unknown, index: number): void {
  const pointer = `${POINTER}/pretokenizers/${index}`;
  const bytes = objectAt(value, pointer);
  expectOneOf(bytes, "type", ["ByteLevel"], pointer);
  expectOneOf(bytes, "add_prefix_space", [false], pointer);
  expectOneOf(bytes, "use_regex", [false], pointer);
}
