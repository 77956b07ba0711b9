// `npm run bench [-- name]`: builds, then runs the measurements of bench/, one after the other; each prints JSON.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "./build.mjs";
import { ensureInstalled } from "./install.mjs";
import { ROOT, runOrExit } from "./run-command.mjs";

const wanted = process.argv[2] ?? "";
await ensureInstalled();
await build();
for (const file of readdirSync(join(ROOT, "bench")).filter((name) => name.endsWith(".mjs") && name.includes(wanted))) {
  await runOrExit(process.execPath, [join(ROOT, "bench", file)]);
}
