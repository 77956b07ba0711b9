import { RE2JS } from "re2js";
import { patternCost, type PatternCost } from "./pattern-cost.ts";
import { PATTERN_WORK_UNITS, type Work } from "./work.ts";

/** A key written `/source/flags`. */
export interface Pattern {
  readonly source: string;
  readonly flags: string;
  readonly cost: PatternCost;
}

/** `literal`: no engine compiles it, so it is plain text. `rejected`: JavaScript would, the linear-time engine cannot. */
export type PatternOutcome =
  | { readonly outcome: "hit"; readonly at: number | null }
  | { readonly outcome: "miss" | "rejected" | "timeout" | "literal" };

/** UTF-16 units of a pattern. Longer ones are rejected. */
export const MAX_PATTERN_LENGTH = 1000;
/** Program instructions of a pattern, repeats spelled out. Larger ones are rejected. */
const MAX_PATTERN_INSTRUCTIONS = 2000;

// A program whose search was dear holds megabytes of cached states; compiling it anew costs less than keeping it.
const KEEP_BELOW_UNITS = 1_000_000;

type Compiled = RE2JS | "literal" | "rejected";
const compiledPatterns = new WeakMap<Pattern, Compiled>();

/** Reads `/source/flags` (flags of `gimsuy`, no unescaped slash inside), else `null`. */
export function readPattern(key: string): Pattern | null {
  const end = key.lastIndexOf("/");
  if (!key.startsWith("/") || end < 2) return null;
  const source = key.slice(1, end);
  const flags = key.slice(end + 1);
  if (!/^[gimsuy]*$/.test(flags) || hasBareSlash(source)) return null;
  return { source, flags, cost: patternCost(source.slice(0, MAX_PATTERN_LENGTH), flags.includes("i")) };
}

/**
 * Looks for the pattern in the text. The only place where an author's regular expression runs: in linear time, within
 * `work`, by RE2 rules made to agree with JavaScript's. `at` is `null` when finding the exact place would cost too much.
 */
export function searchPattern(pattern: Pattern, text: string, work: Work): PatternOutcome {
  const searchUnits = pattern.cost.instructions * text.length;
  if (pattern.source.length > MAX_PATTERN_LENGTH) return { outcome: "rejected" };
  if (pattern.cost.instructions > MAX_PATTERN_INSTRUCTIONS) return { outcome: withoutEngine(pattern) };
  if (searchUnits > PATTERN_WORK_UNITS || !work.take(searchUnits + pattern.cost.compileUnits))
    return { outcome: "timeout" };
  const compiled = compiledPatterns.get(pattern) ?? compile(pattern);
  if (searchUnits < KEEP_BELOW_UNITS || typeof compiled === "string") compiledPatterns.set(pattern, compiled);
  if (typeof compiled === "string") return { outcome: compiled };
  // `test` runs on the lazy automaton; only a text that matches pays for the slower search that knows the place.
  if (!compiled.test(text)) return { outcome: "miss" };
  if (!work.take(searchUnits)) return { outcome: "hit", at: null };
  const matcher = compiled.matcher(text);
  return { outcome: "hit", at: matcher.find() ? matcher.start() : null };
}

function hasBareSlash(source: string): boolean {
  for (let index = 0; index < source.length; index += 1) {
    if (source[index] === "\\") index += 1;
    else if (source[index] === "/") return true;
  }
  return false;
}

function compile(pattern: Pattern): Compiled {
  const source = linearSource(pattern);
  if (source !== null) {
    try {
      return RE2JS.compile(source, linearFlags(pattern.flags));
    } catch {
      // Falls through: what the linear engine cannot express is told apart below.
    }
  }
  return withoutEngine(pattern);
}

function withoutEngine({ source, flags }: Pattern): "rejected" | "literal" {
  try {
    void new RegExp(source, flags);
    return "rejected";
  } catch {
    return "literal";
  }
}

function linearFlags(flags: string): number {
  return (
    RE2JS.LOOKBEHINDS |
    (flags.includes("i") ? RE2JS.CASE_INSENSITIVE : 0) |
    (flags.includes("m") ? RE2JS.MULTILINE : 0) |
    (flags.includes("s") ? RE2JS.DOTALL : 0)
  );
}

const ESCAPES_WITHOUT_EQUAL = /[1-9kAzQEC]/;
const ESCAPES_OF_UNICODE_MODE = /[pP]/;
const JAVASCRIPT_BLANKS = "\\s\\x{B}\\x{A0}\\x{FEFF}\\p{Z}";

/**
 * The pattern in RE2's language, or `null` where the translation below would quietly mean something else: references,
 * `\k<name>`, escapes that are letters in JavaScript and anchors in RE2, POSIX classes.
 */
function linearSource({ source, flags }: Pattern): string | null {
  if (new Set(flags).size !== flags.length) return null;
  const pieces: string[] = [];
  let inClass = false;
  for (let index = 0; index < source.length; index += 1) {
    const character = source.charAt(index);
    const next = source.charAt(index + 1);
    if (character === "\\") {
      if (ESCAPES_WITHOUT_EQUAL.test(next) || (ESCAPES_OF_UNICODE_MODE.test(next) && !flags.includes("u"))) return null;
      pieces.push(blanks(next, inClass) ?? character + next);
      index += 1;
      continue;
    }
    if (inClass && character === "[" && next === ":") return null;
    if (character === "[") inClass = true;
    else if (character === "]") inClass = false;
    pieces.push(character);
  }
  const translated = RE2JS.translateRegExp(pieces.join(""));
  return flags.includes("y") ? `\\A(?:${translated})` : translated;
}

// JavaScript's \s knows every Unicode blank, RE2's only the ASCII ones.
function blanks(escape: string, inClass: boolean): string | null {
  if (escape === "s") return inClass ? JAVASCRIPT_BLANKS : `[${JAVASCRIPT_BLANKS}]`;
  return escape === "S" && !inClass ? `[^${JAVASCRIPT_BLANKS}]` : null;
}
