import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";

/** A worker as it runs in production: its own process, its own connections. */
export interface WorkerProcess {
  readonly child: ChildProcess;
  /** Log lines so far. */
  readonly lines: readonly { readonly msg?: string }[];
  /** Resolves when a line with this message was logged. */
  logged(message: string): Promise<void>;
  /** Sends the signal and resolves when the process is gone. */
  end(signal: "SIGKILL" | "SIGTERM"): Promise<number | null>;
}

export async function startWorkerProcess(env: Record<string, string>): Promise<WorkerProcess> {
  const main = fileURLToPath(new URL("../services/worker/dist/main.js", import.meta.url));
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: { msg?: string }[] = [];
  const waiting = new Map<string, () => void>();
  let rest = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const line = JSON.parse(part) as { msg?: string };
      lines.push(line);
      waiting.get(line.msg ?? "")?.();
    }
  });
  const worker: WorkerProcess = {
    child,
    lines,
    logged: (message) =>
      lines.some((line) => line.msg === message)
        ? Promise.resolve()
        : new Promise((resolve, reject) => {
            waiting.set(message, resolve);
            child.once("exit", (code) =>
              reject(new Error(`the worker ended with ${code} before it logged "${message}"`)),
            );
          }),
    end: (signal) =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve(child.exitCode);
        child.once("exit", (code) => resolve(code));
        child.kill(signal);
        return undefined;
      }),
  };
  await worker.logged("worker ready");
  return worker;
}
