import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { identify, type ProcessRecord } from "./process-identity.ts";

/** The servers recorded in `dir`: of this guard, or of one that was killed. */
export function readServers(dir: string): readonly ProcessRecord[] {
  try {
    return JSON.parse(readFileSync(join(dir, "servers.json"), "utf8")) as ProcessRecord[];
  } catch {
    return [];
  }
}

/** Adds a server that was just spawned. Synchronous, so that no server exists unrecorded for longer than an instant. */
export function recordServer(dir: string, pid: number, folder: string): void {
  const record = identify(pid, folder);
  if (record === null) return;
  const file = join(dir, "servers.json");
  writeFileSync(`${file}.new`, `${JSON.stringify([...readServers(dir), record], null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Forgets all servers of `dir`, once they are gone. */
export function forgetServers(dir: string): void {
  rmSync(join(dir, "servers.json"), { force: true });
}
