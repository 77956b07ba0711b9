// Every path that the documentation names exists. Prints the ones that do not and ends with 1.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { ROOT } from "./run-command.mjs";

const TOP_LEVEL = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];
/** `code spans` below these folders are paths; others may be routes, globs or package names. */
const FOLDERS = ["packages", "services", "db", "scripts", "docs", "demo", "bench", "e2e", ".ci"];

const missing = documents().flatMap(missingPaths);
for (const line of missing) console.error(line);
process.exitCode = missing.length === 0 ? 0 : 1;

function documents() {
  const inDocs = existsSync(join(ROOT, "docs"))
    ? readdirSync(join(ROOT, "docs"), { recursive: true }).map((name) => join("docs", name))
    : [];
  return [...TOP_LEVEL, ...inDocs.filter((name) => name.endsWith(".md"))].filter((name) =>
    existsSync(join(ROOT, name)),
  );
}

function missingPaths(document) {
  const lines = withoutCodeBlocks(readFileSync(join(ROOT, document), "utf8")).split("\n");
  return lines.flatMap((line, index) =>
    [...linkedFiles(line, document), ...namedFiles(line)]
      .filter((file) => !existsSync(file))
      .map((file) => `${document}:${index + 1}: ${relative(ROOT, file)} does not exist`),
  );
}

/** Fenced blocks show other people's folders and output; their lines stay, empty, so that line numbers are right. */
function withoutCodeBlocks(text) {
  return text.replaceAll(/^```.*?^```/gms, (block) => block.replaceAll(/[^\n]/g, ""));
}

/** `[text](path)`, relative to the document. */
function linkedFiles(line, document) {
  return [...line.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target.replace(/#.*$/, ""))
    .filter((target) => target !== "" && !/^[a-z]+:/.test(target))
    .map((target) => resolve(ROOT, dirname(document), target));
}

/** `packages/x/src/y.ts` in a code span, relative to the repository; `{a,b}` stands for both. */
function namedFiles(line) {
  return [...line.matchAll(/`([^`\s]+)`/g)]
    .map(([, span]) => span.replace(/:\d+$/, "").replace(/\/$/, ""))
    .filter((span) => FOLDERS.includes(span.split("/")[0]) && span.includes("/") && !/[*<>…$:]/.test(span))
    .flatMap(expandBraces)
    .map((path) => join(ROOT, path));
}

function expandBraces(path) {
  const braces = /\{([^{}]+)\}/.exec(path);
  if (braces === null) return [path];
  return braces[1].split(",").flatMap((choice) => expandBraces(path.replace(braces[0], choice)));
}
