import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readlinkSync } from "node:fs";

/** A process that can be told from a later one with the same number. */
export interface ProcessRecord {
  readonly pid: number;
  /** Opaque start time; equal for one process, different for the next owner of the number. */
  readonly startedAt: string;
  /** The folder it works in, for servers; absent when it does not matter. */
  readonly folder?: string;
}

/** The record of a running process; `null` when it is gone. */
export function identify(pid: number, folder?: string): ProcessRecord | null {
  const startedAt = startTime(pid);
  if (startedAt === null) return null;
  return folder === undefined ? { pid, startedAt } : { pid, startedAt, folder };
}

/** Whether the recorded process still runs: number, start time and, where the system tells, working folder agree. */
export function isRunning(record: ProcessRecord): boolean {
  if (startTime(record.pid) !== record.startedAt) return false;
  const folder = workingFolder(record.pid);
  return record.folder === undefined || folder === null || folder === record.folder;
}

/** Where a process works; `null` without `/proc` or without the right to look. */
export function workingFolder(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}

/** Start time of a process, opaque; `null` when it has ended (a zombie counts as ended). */
function startTime(pid: number): string | null {
  return existsSync("/proc/self/stat") ? startTimeFromProc(pid) : startTimeFromPs(pid);
}

function startTimeFromProc(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command's name is in brackets and may hold spaces: the fixed fields start after the last bracket.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

function startTimeFromPs(pid: number): string | null {
  try {
    const args = ["-o", "lstart=", "-p", String(pid)];
    return execFileSync("ps", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim() || null;
  } catch {
    return null;
  }
}
