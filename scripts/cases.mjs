// `npm run cases -- shift FILE`: runs the machine-checkable records of a JSON-lines file against the built pipeline.
// Prints each failure, then `N passed, M failed`, and ends with 1 if any failed. Records without `expect` are skipped.
import { readFileSync } from "node:fs";
import { runShiftCase } from "./cases/shift.mjs";

/** A kind of case → what runs one: answers the list of what is wrong with it. */
const KINDS = { shift: runShiftCase };

const [kind, file] = process.argv.slice(2);
const run = Object.hasOwn(KINDS, kind ?? "") ? KINDS[kind] : undefined;
if (run === undefined || file === undefined) {
  console.error(`Usage: npm run cases -- <${Object.keys(KINDS).join(" | ")}> FILE`);
  process.exit(2);
}

const counts = { passed: 0, failed: 0, skipped: 0 };
for (const [number, line] of readFileSync(file, "utf8").split("\n").entries()) {
  if (line.trim() === "") continue;
  const { id, problems } = await check(line, number + 1);
  if (problems === null) counts.skipped += 1;
  else if (problems.length === 0) counts.passed += 1;
  else {
    counts.failed += 1;
    for (const problem of problems) console.log(`✗ ${id}: ${problem}`);
  }
}
console.log(
  `${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? ` (${counts.skipped} skipped: no expect)` : ""}`,
);
process.exitCode = counts.failed === 0 ? 0 : 1;

async function check(line, number) {
  let id = `line ${number}`;
  try {
    const record = JSON.parse(line);
    id = record.id ?? id;
    return { id, problems: record.expect === undefined || record.expect === null ? null : await run(record) };
  } catch (error) {
    return { id, problems: [error instanceof Error ? error.message : String(error)] };
  }
}
