import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A script in a process of its own, so that a test can freeze or kill it; it talks in lines. */
export interface LineProcess {
  readonly pid: number;
  /** The next line it printed. Rejects when it ended instead. */
  nextLine(): Promise<string>;
  signal(signal: NodeJS.Signals): void;
  /** kill -9; resolves once it is gone. Safe twice. */
  kill(): Promise<void>;
}

/** Starts `script`, a plain `.mjs` beside this file, with `input` as its one argument (JSON). */
export function startLineProcess(script: string, input: unknown): LineProcess {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [file, JSON.stringify(input)], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    pid: child.pid ?? 0,
    nextLine: async () => {
      const line = await lines.next();
      if (line.done === true) throw new Error(`${script} ended`);
      return line.value;
    },
    signal: (signal) => void child.kill(signal),
    kill: () => {
      child.kill("SIGKILL");
      return exited;
    },
  };
}
