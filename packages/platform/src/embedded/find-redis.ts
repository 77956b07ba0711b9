import { execFileSync } from "node:child_process";
import { findExecutable } from "./find-executable.ts";
import { searchPath, serverEnvironment } from "./server-env.ts";

/** BullMQ's recommended minimum for Redis; every Valkey is newer. */
const MINIMUM_VERSION = 6.2;

/** `valkey-server` or `redis-server` on PATH, 6.2 or later; `null` when there is none. */
export function findRedis(): string | null {
  for (const name of ["valkey-server", "redis-server"]) {
    const file = findExecutable(name, searchPath());
    if (file !== null && versionOf(file) >= MINIMUM_VERSION) return file;
  }
  return null;
}

function versionOf(file: string): number {
  try {
    const banner = execFileSync(file, ["--version"], { encoding: "utf8", env: serverEnvironment() });
    return Number(/v=(\d+\.\d+)/.exec(banner)?.[1] ?? 0);
  } catch {
    return 0;
  }
}
