import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Folder of the repository. */
export const ROOT = fileURLToPath(new URL("..", import.meta.url));

const ENVIRONMENT = { ...process.env, TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" };

/**
 * Runs a program in the repository with our terminal.
 * @param {string} program
 * @param {readonly string[]} args
 * @returns {Promise<number>} its exit code; 1 when a signal ended it
 */
export async function run(program, args) {
  const child = spawn(program, args, { cwd: ROOT, stdio: "inherit", env: ENVIRONMENT });
  return exitCode(child);
}

/** As {@link run}, and ends this process with the same code when it is not 0. */
export async function runOrExit(program, args) {
  const code = await run(program, args);
  if (code !== 0) process.exit(code);
}

/**
 * Runs a program silently, with `env` added to our environment.
 * @returns {Promise<{ code: number, output: string }>} what it printed on both channels
 */
export async function capture(program, args, { cwd = ROOT, env = {} } = {}) {
  const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "pipe"], env: { ...ENVIRONMENT, ...env } });
  const chunks = [];
  child.stdout.on("data", (chunk) => chunks.push(chunk));
  child.stderr.on("data", (chunk) => chunks.push(chunk));
  const code = await exitCode(child);
  return { code, output: Buffer.concat(chunks).toString("utf8") };
}

/** Path of a program that one of our packages brings. */
export function tool(name) {
  return fileURLToPath(new URL(`../node_modules/.bin/${name}`, import.meta.url));
}

function exitCode(child) {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
}
