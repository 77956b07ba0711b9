// Counting by the exact counter against `encode_ordinary`, in the same run: prose no text of which was seen before, short
// strings, and 100 KB of what is worst for a tokenizer, as a multiple of what 100 KB of prose take.
import { get_encoding } from "@dqbd/tiktoken";
import { readdirSync, readFileSync } from "node:fs";
import { PROFILES } from "../packages/pipeline/dist/index.js";
import { medianCpuMs } from "./support/median-cpu.mjs";

const ENCODINGS = ["o200k_base", "cl100k_base"];
const BYTES = 100_000;
const PARAGRAPH_WORDS = 100;
const SHORT_CHARACTERS = 20;
const SHORT_TEXTS = 20_000;
const OFTEN = { warmUps: 5, rounds: 15 };

const random = dice(1);
const words = proseWords();
const hostile = hostileTexts();
const encodings = [];
for (const encoding of ENCODINGS) encodings.push(await measure(encoding));
console.log(JSON.stringify({ bench: "count", bytes: BYTES, encodings }, null, 2));

async function measure(encoding) {
  const oracle = get_encoding(encoding);
  const ours = PROFILES[`openai:${encoding}`].countText;
  const theirs = (text) => oracle.encode_ordinary(text).length;
  const prose = await compare(freshProse, ours, theirs);
  const short = await compare(shortTexts, ours, theirs);
  const proseMs = prose.ours;
  const worst = [];
  for (const [name, text] of hostile) {
    const ms = await msOfCounting(() => [text], ours);
    worst.push({ name, tokens: ours(text), ms, timesProse: round(ms / proseMs) });
  }
  oracle.free();
  return {
    encoding,
    prose: { megabytesPerSecond: round(BYTES / 1_000 / prose.ours), ...prose },
    shortStrings: { microseconds: round((short.ours * 1_000) / SHORT_TEXTS), ...short },
    hostile: worst,
    worst: worst.reduce((most, one) => (one.ms > most.ms ? one : most)),
  };
}

/** Both counters on the same texts, made anew for each: milliseconds a round, how many times faster, whether they agree. */
async function compare(makeTexts, ours, theirs) {
  const sample = makeTexts();
  const oursMs = await msOfCounting(makeTexts, ours);
  const theirsMs = await msOfCounting(makeTexts, theirs);
  const sameCounts = sample.every((text) => ours(text) === theirs(text));
  return { ours: oursMs, encodeOrdinary: theirsMs, ratio: round(theirsMs / oursMs), sameCounts };
}

/** Of all that `makeTexts()` makes, anew for each round. */
function msOfCounting(makeTexts, count) {
  const countAll = (texts) => {
    for (const text of texts) count(text);
  };
  return medianCpuMs(countAll, { ...OFTEN, prepare: makeTexts });
}

/** The words of this project's documents with their punctuation, as often as they stand there. */
function proseWords() {
  const root = new URL("../", import.meta.url);
  const decisions = readdirSync(new URL("docs/decisions/", root)).map((name) => `docs/decisions/${name}`);
  const files = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "packages/pipeline/README.md", ...decisions];
  const lines = files.flatMap((file) => readFileSync(new URL(file, root), "utf8").split("\n"));
  const isProse = (line) => /^[A-Za-z-]/.test(line) && !line.includes("`");
  return lines
    .filter(isProse)
    .flatMap((line) => line.split(/\s+/))
    .filter((word) => word !== "");
}

/** Paragraphs that never stood anywhere: runs of three words of real text, in random order. */
function freshProse() {
  const paragraphs = [];
  for (let bytes = 0; bytes < BYTES; bytes += Buffer.byteLength(paragraphs.at(-1))) {
    const paragraph = [];
    while (paragraph.length < PARAGRAPH_WORDS) {
      const at = random(words.length - 3);
      paragraph.push(...words.slice(at, at + 3));
    }
    paragraphs.push(paragraph.join(" "));
  }
  return paragraphs;
}

function shortTexts() {
  const text = freshProse().join("\n");
  return Array.from({ length: SHORT_TEXTS }, () => {
    const at = random(text.length - SHORT_CHARACTERS);
    return text.slice(at, at + SHORT_CHARACTERS);
  });
}

function hostileTexts() {
  const among = (characters) => () => characters[random(characters.length)];
  return [
    ["one letter", fill(() => "a")],
    ["random letters", fill(among("abcdefghijklmnopqrstuvwxyz"))],
    ["random letters of ten", fill(among("ABCDEFGHIJ"))],
    ["random words of 300 letters", fill(among("abcdefghijklmnopqrstuvwxyz")).replaceAll(/(.{300})./g, "$1 ")],
    ["one Chinese character", fill(() => "字")],
    ["Chinese without punctuation", fill(() => String.fromCodePoint(0x4e00 + random(0x5000)))],
    ["spaces", fill(() => " ")],
    ["line breaks", fill(() => "\n")],
    ["one symbol", fill(() => "=")],
    ["symbols", fill(among("!@#$%^&*()-=_+[]{}|;:,.<>?"))],
    ["emoji", fill(() => "🪑")],
    ["combining marks", fill(() => "\u0301")],
    ["letters with marks", fill(() => "e\u0301")],
    ["digits", fill(among("0123456789"))],
    ["mixed", fill(() => String.fromCodePoint([random(0xd800), random(128), 0x1f300 + random(500)][random(3)]))],
  ];
}

function fill(next) {
  let text = "";
  for (let bytes = 0; bytes < BYTES;) {
    const part = next();
    text += part;
    bytes += Buffer.byteLength(part);
  }
  return text;
}

function dice(seed) {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function round(value) {
  return Math.round(value * 1_000) / 1_000;
}
