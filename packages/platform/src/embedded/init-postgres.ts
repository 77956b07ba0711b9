import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, renameSync, rmSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { PostgresPlace } from "./place-postgres.ts";
import { serverEnvironment } from "./server-env.ts";
import { endOf } from "./server-process.ts";

/** Login of the private server's owner. */
export const DATABASE_USER = "shiftwork";
export const DATABASE_NAME = "shiftwork";

/**
 * Makes the cluster with our database in it, unless it is there. Built in a side folder and renamed when complete: a
 * start that is killed half-way leaves no half cluster behind.
 * @throws Error with the end of the log when a step fails, or when `signal` aborts.
 */
export async function initPostgres(place: PostgresPlace, passwordFile: string, signal: AbortSignal): Promise<string> {
  const data = join(place.folder, "data");
  if (existsSync(join(data, "PG_VERSION"))) return data;
  removeUnfinished(place.folder);
  const unfinished = join(place.folder, `unfinished-${process.pid}`);
  const log = join(place.folder, "initdb.log");
  const access = ["-U", DATABASE_USER, "-A", "scram-sha-256", `--pwfile=${passwordFile}`];
  const options = [...access, "-E", "UTF8", ...localeOptions(place.programs.major), "--no-sync", "--no-instructions"];
  await run(place, "initdb", ["-D", unfinished, ...options], log, signal);
  // The single-user mode needs no port, no password and no client library.
  const single = ["--single", "-D", unfinished, "template1"];
  await run(place, "postgres", single, log, signal, `create database ${DATABASE_NAME}\n`);
  renameSync(unfinished, data);
  return data;
}

function removeUnfinished(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name.startsWith("unfinished-")) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** The same byte-wise order everywhere; 17 brought a provider that does not depend on the machine's locales. */
function localeOptions(major: number): readonly string[] {
  if (major >= 17) return ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
  return process.platform === "darwin" ? ["--locale=C", "--lc-ctype=UTF-8"] : ["--locale=C.UTF-8"];
}

async function run(
  place: PostgresPlace,
  name: "initdb" | "postgres",
  args: readonly string[],
  logFile: string,
  signal: AbortSignal,
  input = "",
): Promise<void> {
  const [program, all] = place.runAs.command(join(place.programs.binFolder, name), args);
  const log = openSync(logFile, "a", 0o600);
  const child = spawn(program, all, {
    cwd: place.folder,
    env: serverEnvironment(),
    stdio: ["pipe", log, log],
    signal,
    ...place.runAs.ids,
  });
  closeSync(log);
  child.stdin?.on("error", () => undefined).end(input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject).once("exit", resolve);
  });
  if (code !== 0) throw new Error(`${name} failed (code ${code}): ${endOf(logFile)}`);
}
