import { spawn, type ChildProcess } from "node:child_process";
import { openSync, closeSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { waitUntil } from "./wait.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export interface ServiceOptions {
  readonly name: string;
  readonly service: "api" | "worker";
  readonly env: Readonly<Record<string, string>>;
  /** Each start writes a log of its own here. */
  readonly logFolder: string;
  /** Told when it ends although nobody ended it; it is started again, as a supervisor would. */
  readonly onDeath: (name: string, how: string) => void;
}

/** An API or a worker as it runs in production: one process at a time, started again when it ends. */
export interface Service {
  readonly name: string;
  readonly pid: number;
  /** Longest it has taken to become ready so far, in milliseconds. */
  readonly slowestStartMs: number;
  /** Starts it, and resolves when it is ready. */
  start(): Promise<void>;
  /** Sends the signal that ends it, and resolves when it is gone. */
  end(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
}

export function createService(options: ServiceOptions): Service {
  const { name } = options;
  let child: ChildProcess | null = null;
  let starts = 0;
  let slowestStartMs = 0;
  const ended = new WeakSet<ChildProcess>();

  async function start(): Promise<void> {
    const logFile = join(options.logFolder, `${name}-${(starts += 1)}.log`);
    const begunAt = performance.now();
    const started = launch(options, logFile);
    child = started;
    started.once("exit", (code, signal) => {
      if (ended.has(started)) return;
      options.onDeath(name, `${code ?? signal}; see ${logFile}`);
      void start();
    });
    await waitUntil(`${name} is ready`, () => ended.has(started) || saysReady(logFile), 180_000);
    slowestStartMs = Math.max(slowestStartMs, performance.now() - begunAt);
  }
  const present = (): ChildProcess => {
    if (child === null) throw new Error(`${name} was never started`);
    return child;
  };
  return {
    name,
    get pid() {
      return present().pid ?? 0;
    },
    get slowestStartMs() {
      return slowestStartMs;
    },
    start,
    end: (signal) => {
      const ending = child;
      if (ending === null) return Promise.resolve();
      ended.add(ending);
      if (ending.exitCode !== null || ending.signalCode !== null) return Promise.resolve();
      return new Promise((resolve) => {
        ending.once("exit", () => resolve());
        ending.kill(signal);
      });
    },
    signal: (signal) => void present().kill(signal),
  };
}

function launch({ service, env }: ServiceOptions, logFile: string): ChildProcess {
  const log = openSync(logFile, "w");
  const endWithParent = join(ROOT, "scripts", "end-with-parent.mjs");
  const main = join(ROOT, "services", service, "dist", "main.js");
  const child = spawn(process.execPath, ["--import", endWithParent, main], {
    cwd: ROOT,
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["pipe", log, log],
  });
  closeSync(log);
  return child;
}

function saysReady(logFile: string): boolean {
  return /"msg":"(worker ready|Server listening)/.test(readFileSync(logFile, "utf8"));
}
