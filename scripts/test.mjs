// `npm test [-- vitest arguments]`: installs, builds, runs all tests on throw-away services, ends with the counts.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "./build.mjs";
import { ensureInstalled } from "./install.mjs";
import { run, tool } from "./run-command.mjs";

await ensureInstalled();
await build();

const folder = mkdtempSync(join(tmpdir(), "shiftwork-report-"));
const reportFile = join(folder, "report.json");
const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${reportFile}`];
const code = await run(tool("vitest"), ["run", ...reporters, ...process.argv.slice(2)]);
console.log(summary(reportFile, code));
rmSync(folder, { recursive: true, force: true });
process.exitCode = code;

/** `412 passed, 0 failed`, with `, 3 skipped` when there are any. */
function summary(file, exitCode) {
  const report = readReport(file);
  const failedFiles = report.testResults.filter(
    (suite) => suite.status === "failed" && suite.assertionResults.length === 0,
  );
  // A file that cannot be loaded has no failed test, and an error outside a test has no file.
  const failed = Math.max(report.numFailedTests + failedFiles.length, exitCode === 0 ? 0 : 1);
  const skipped = report.numPendingTests + report.numTodoTests;
  return `${report.numPassedTests} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`;
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return { testResults: [], numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0 };
  }
}
