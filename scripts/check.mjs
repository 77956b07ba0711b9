// `npm run check`: lint, format, types, dead code, import rules and doc paths, all at once, without services.
import { ensureInstalled } from "./install.mjs";
import { capture, tool } from "./run-command.mjs";

const CHECKS = [
  ["lint", tool("oxlint"), ["--type-aware", "--format=unix"]],
  ["format", tool("oxfmt"), ["--check"]],
  ["types", tool("tsc"), ["--noEmit", "--project", "tsconfig.json"]],
  // The build's settings hold no host types: a pure file that names one does not compile.
  ["pure packages", tool("tsc"), ["--noEmit", "--project", "packages/pipeline/tsconfig.build.json"]],
  ["dead code", tool("knip"), ["--no-progress"]],
  ["rules bite", process.execPath, ["scripts/check-rules.mjs"]],
  ["doc paths", process.execPath, ["scripts/check-docs.mjs"]],
];

await ensureInstalled();
const startedAt = performance.now();
const failures = (await Promise.all(CHECKS.map(check))).filter((failure) => failure !== null);
for (const { name, output } of failures) console.error(`\n✗ ${name}\n${output.trim()}`);
console.log(`${CHECKS.length - failures.length} of ${CHECKS.length} checks passed in ${seconds(startedAt)}`);
process.exitCode = failures.length === 0 ? 0 : 1;

async function check([name, program, args]) {
  const begun = performance.now();
  const { code, output } = await capture(program, args);
  if (code !== 0) return { name, output };
  console.log(`✓ ${name} (${seconds(begun)})`);
  return null;
}

function seconds(since) {
  return `${((performance.now() - since) / 1_000).toFixed(1)} s`;
}
