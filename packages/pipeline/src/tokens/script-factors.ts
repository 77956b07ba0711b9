import { countEncoded } from "./encoder.ts";

/** How many times what o200k takes another vocabulary takes at most, by script. `rest` is Latin, symbols and spaces. */
export interface ScriptFactors {
  readonly rest: number;
  readonly digits: number;
  readonly cyrillic: number;
  readonly greek: number;
  /** Chinese and Japanese. */
  readonly han: number;
  readonly hangul: number;
  readonly arabic: number;
  readonly hebrew: number;
  /** Thai, Lao, Khmer, Burmese. */
  readonly thai: number;
  readonly devanagari: number;
  /** Letters of all other scripts. */
  readonly rare: number;
}

type Script = Exclude<keyof ScriptFactors, "rest">;

// A run takes along the marks, punctuation and spaces behind it: words of one script are counted in one go.
const SCRIPTS: { readonly [script in Script]: RegExp } = {
  digits: /\p{N}/u,
  cyrillic: /\p{Script=Cyrillic}/u,
  greek: /\p{Script=Greek}/u,
  han: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}]/u,
  hangul: /\p{Script=Hangul}/u,
  arabic: /\p{Script=Arabic}/u,
  hebrew: /\p{Script=Hebrew}/u,
  thai: /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u,
  devanagari: /\p{Script=Devanagari}/u,
  rare: /(?!\p{Script=Latin})\p{L}/u,
};
const NAMES = Object.keys(SCRIPTS) as Script[];
const RUNS = new RegExp(`(${NAMES.map(runOf).join("|")})`, "u");

/** Tokens by the ratio of each script to o200k, rounded up. */
export function countByScript(text: string, factors: ScriptFactors): number {
  const pieces = text.split(RUNS);
  // `split` gives what stands between the runs, and the runs, in turn.
  const tokens = pieces.map((piece, place) => {
    const factor = place % 2 === 0 ? factors.rest : factors[scriptOf(piece)];
    return countEncoded("o200k_base", piece) * factor;
  });
  return Math.ceil(tokens.reduce((sum, cost) => sum + cost, 0));
}

function runOf(script: Script): string {
  const letter = SCRIPTS[script].source;
  return script === "digits" ? `${letter}+` : `${letter}(?:${letter}|[\\p{M}\\p{P}\\p{Z}])*`;
}

function scriptOf(run: string): Script {
  const first = String.fromCodePoint(run.codePointAt(0) ?? 0);
  return NAMES.find((script) => SCRIPTS[script].test(first)) ?? "rare";
}
