import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { identify, isRunning, workingFolder, type ProcessRecord } from "./process-identity.ts";

const POLL_MS = 20;
const GENTLE_MS = 10_000;
const FORCED_MS = 5_000;

/**
 * Stops servers that outlived their guard (it was killed with -9). Resolves when all are gone. A record whose process
 * number now belongs to somebody else is passed over.
 */
export async function stopStaleServers(servers: readonly ProcessRecord[]): Promise<void> {
  await Promise.all(servers.map(stopStale));
}

/**
 * Removes a `postmaster.pid` that names a process which is not a server of this cluster: after a restart of the
 * machine or container the number often belongs to somebody else, and PostgreSQL would refuse to start.
 */
export function removeStaleLock(data: string): void {
  const lock = join(data, "postmaster.pid");
  const pid = Number(readLock(lock).split("\n")[0]);
  if (Number.isNaN(pid) || pid === 0) return;
  const folder = workingFolder(pid);
  if (identify(pid) === null || (folder !== null && folder !== data)) rmSync(lock, { force: true });
}

async function stopStale(server: ProcessRecord): Promise<void> {
  // SIGINT is PostgreSQL's fast shutdown, which does not wait for clients; Redis treats it like SIGTERM.
  if (!(await signalAndWait(server, "SIGINT", GENTLE_MS))) await signalAndWait(server, "SIGKILL", FORCED_MS);
}

async function signalAndWait(server: ProcessRecord, signal: NodeJS.Signals, timeoutMs: number): Promise<boolean> {
  if (isRunning(server)) sendSignal(server.pid, signal);
  for (let waited = 0; waited < timeoutMs; waited += POLL_MS) {
    if (!isRunning(server)) return true;
    await wait(POLL_MS);
  }
  return false;
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function readLock(lock: string): string {
  try {
    return readFileSync(lock, "utf8");
  } catch {
    return "";
  }
}
