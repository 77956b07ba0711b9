import { chmodSync, lstatSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";

interface LibraryLink {
  readonly source: string;
  readonly target: string;
}

/**
 * Makes the links an npm PostgreSQL package cannot carry (npm drops symbolic links) and its post-install script would
 * make: npm 12 and `--ignore-scripts` do not run it. Also restores the execute bits. Does nothing when all is there.
 */
export function linkLibraries(packageRoot: string): void {
  for (const { source, target } of readLinks(packageRoot)) {
    const link = join(packageRoot, target);
    if (!exists(link)) symlinkUnlessRaced(basename(source), link);
  }
  for (const program of ["postgres", "initdb", "pg_ctl"]) {
    const file = join(packageRoot, "native", "bin", program);
    if ((statSync(file).mode & 0o111) !== 0o111) chmodSync(file, 0o755);
  }
}

function readLinks(packageRoot: string): readonly LibraryLink[] {
  const list = join(packageRoot, "native", "pg-symlinks.json");
  return exists(list) ? (JSON.parse(readFileSync(list, "utf8")) as LibraryLink[]) : [];
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function symlinkUnlessRaced(target: string, link: string): void {
  try {
    symlinkSync(target, link);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
