import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, runOrExit } from "./run-command.mjs";

const MINIMUM_NODE = [20, 20];
const MARKER = join(ROOT, "node_modules", ".installed-for");

/**
 * Installs the dependencies when the lock file, the platform or Node's module version changed since the last time.
 * Ends the process with a message when Node is too old.
 */
export async function ensureInstalled() {
  assertNodeVersion();
  const wanted = fingerprint();
  if (existsSync(MARKER) && readFileSync(MARKER, "utf8") === wanted) return;
  console.log("installing dependencies (npm ci)");
  await runOrExit("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
  writeFileSync(MARKER, wanted);
}

function assertNodeVersion() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const [minimumMajor, minimumMinor] = MINIMUM_NODE;
  if (major > minimumMajor || (major === minimumMajor && minor >= minimumMinor)) return;
  console.error(`Node ${process.versions.node} is too old: Shiftwork needs ${MINIMUM_NODE.join(".")} or later.`);
  process.exit(1);
}

function fingerprint() {
  const { platform, arch, versions } = process;
  return createHash("sha256")
    .update(readFileSync(join(ROOT, "package-lock.json")))
    .update([platform, arch, versions.modules].join())
    .digest("hex");
}
