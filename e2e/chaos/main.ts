import { rmSync } from "node:fs";
import { readOptions, USAGE } from "./options.ts";
import { renderReport, violationsIn } from "./report.ts";
import { runChaos } from "./run-chaos.ts";

const args = process.argv.slice(2);
if (args.includes("--help")) {
  process.stdout.write(USAGE);
} else {
  try {
    const options = readOptions(args);
    const result = await runChaos(options, (line) => void process.stdout.write(`${line}\n`));
    process.stdout.write(`\n${renderReport(result)}\n`);
    const broken = violationsIn(result).length > 0;
    if (!broken) rmSync(result.logFolder, { recursive: true, force: true });
    process.exitCode = broken ? 1 : 0;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    process.exitCode = 2;
  }
}
