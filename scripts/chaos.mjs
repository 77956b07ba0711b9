// `npm run chaos [-- options]`: builds, then runs a whole installation under injected faults and checks what it promises;
// `--help` lists the options. Ends with 1 when a promise was broken.
import { build } from "./build.mjs";
import { ensureInstalled } from "./install.mjs";
import { run, tool } from "./run-command.mjs";

await ensureInstalled();
await build();
process.exitCode = await run(tool("tsx"), [
  "--conditions=shiftwork-source",
  "e2e/chaos/main.ts",
  ...process.argv.slice(2),
]);
