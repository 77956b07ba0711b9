import { delimiter } from "node:path";

const PASSED_ON = ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"];

/** The folders of PATH, in order. */
export function searchPath(): readonly string[] {
  return (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
}

/**
 * What a private server sees of the environment. Not all of it: `PGDATA`, `PGPORT` and friends would change what
 * initdb does, and a server's `/proc/<pid>/environ` is no place for our keys.
 */
export function serverEnvironment(): NodeJS.ProcessEnv {
  const passed = PASSED_ON.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  return { ...Object.fromEntries(passed), LC_ALL: "C", TZ: "UTC" };
}

/** The guard needs the caller's PATH; Node flags meant for the caller (loaders, inspectors) would break it. */
export function guardEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, NODE_OPTIONS: "" };
}
