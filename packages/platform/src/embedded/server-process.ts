import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { serverEnvironment } from "./server-env.ts";

const POLL_MS = 10;
const STOP_TIMEOUT_MS = 15_000;
/** Ports are chosen before the server binds them; this many times another process may win. */
const PORT_ATTEMPTS = 5;

export interface ServerCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly logFile: string;
  readonly identity: { readonly uid?: number; readonly gid?: number };
  /** The signal that makes this server write what it has and leave. */
  readonly stopSignal: "SIGINT" | "SIGTERM";
}

export interface ServerProcess {
  readonly pid: number;
  readonly child: ChildProcess;
  /** Resolves once the process has ended, by whatever cause. */
  readonly exited: Promise<void>;
  /** Asks it to stop, kills it after 15 s, resolves when it is gone. Safe twice. */
  stop(): Promise<void>;
}

/** Told of every server process the moment it exists, with the folder it works in. */
export type OnSpawn = (server: ServerProcess, folder: string) => void;

/**
 * Starts a server with its output in `logFile`.
 * @throws Error when the program cannot be started at all.
 */
export function spawnServer(command: ServerCommand): ServerProcess {
  const log = openSync(command.logFile, "w", 0o600);
  const child = spawn(command.program, command.args, {
    cwd: command.folder,
    env: serverEnvironment(),
    stdio: ["ignore", log, log],
    ...command.identity,
  });
  closeSync(log);
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  if (child.pid === undefined) throw new Error(`cannot start ${command.program}`);
  return { pid: child.pid, child, exited, stop: () => stopServer(child, exited, command.stopSignal) };
}

/**
 * Waits until the server says it is ready. Resolves `false` when it ended because its port was taken.
 * @throws Error with the end of its log when it ended for another reason.
 */
export async function waitUntilReady(
  server: ServerProcess,
  logFile: string,
  isReady: () => boolean | Promise<boolean>,
): Promise<boolean> {
  while (!hasEnded(server.child)) {
    if (await isReady()) return true;
    await wait(POLL_MS);
  }
  const end = endOf(logFile);
  if (/address already in use|could not bind/i.test(end)) return false;
  throw new Error(`${server.child.spawnfile} ended (${describeEnd(server.child)}): ${end}`);
}

/**
 * Calls `attempt` until it gives a result, five times at most.
 * @throws Error when every chosen port was taken.
 */
export async function retryPorts<T>(attempt: () => Promise<T | null>): Promise<T> {
  for (let tried = 0; tried < PORT_ATTEMPTS; tried += 1) {
    const result = await attempt();
    if (result !== null) return result;
  }
  throw new Error("no free port: each one chosen was taken before the server could bind it");
}

/** The last lines of a log, for an error message. */
export function endOf(logFile: string): string {
  return readFileSync(logFile, "utf8").slice(-800).trim();
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function describeEnd(child: ChildProcess): string {
  return child.signalCode ?? `code ${child.exitCode}`;
}

async function stopServer(child: ChildProcess, exited: Promise<void>, signal: NodeJS.Signals): Promise<void> {
  if (hasEnded(child)) return;
  child.kill(signal);
  const killer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(killer);
}
