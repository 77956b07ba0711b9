import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/run-command.mjs";

const TICK_MS = 10; // USER_HZ is 100 on every Linux Node runs on

/**
 * CPU milliseconds since start, children that ended included, by kind of process. Linux only: reads /proc.
 *
 * @param {string} folder what the private servers run in: those of others are not counted
 */
export function cpuByProcess(folder) {
  const rows = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => readProcess(pid, folder));
  const sums = { api: 0, worker: 0, postgres: 0, redis: 0 };
  for (const { kind, ms } of rows) sums[kind] += ms;
  return sums;
}

function readProcess(pid, folder) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const kind = kindOf(pid, folder);
    // Fields 14 to 17 of proc(5), counted from 1: own and waited-for children's user and system time.
    const ticks = fields.slice(11, 15).reduce((sum, value) => sum + Number(value), 0);
    return kind === null ? [] : [{ kind, ms: ticks * TICK_MS }];
  } catch {
    return [];
  }
}

function kindOf(pid, folder) {
  const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  if (command.includes(join(ROOT, "services", "api", "dist", "main.js"))) return "api";
  if (command.includes(join(ROOT, "services", "worker", "dist", "main.js"))) return "worker";
  // A backend's command line is only its title: the folder it works in tells whose server it belongs to.
  if (command.startsWith("postgres:") || command.includes("/postgres ")) return isOurs(pid, folder) ? "postgres" : null;
  if (command.includes("redis-server") || command.includes("valkey-server"))
    return isOurs(pid, folder) ? "redis" : null;
  return null;
}

function isOurs(pid, folder) {
  return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
}
