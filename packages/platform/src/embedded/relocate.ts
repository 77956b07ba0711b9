import { createHash } from "node:crypto";
import { chownSync, cpSync, existsSync, lstatSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { PostgresPrograms } from "./find-postgres.ts";

/**
 * The folder under the system's temporary folder that stands in for `dir` when root's project cannot be entered by
 * the server's user. The name is predictable, so it is created exclusively, for that user alone, and refused when
 * somebody else made it first.
 * @throws Error when the folder exists and is not that user's private folder.
 */
export function relocatedFolder(dir: string, uid: number, gid: number): string {
  const name = `shiftwork-postgres-${createHash("sha256").update(dir).digest("hex").slice(0, 12)}`;
  const folder = join(tmpdir(), name);
  if (!createExclusively(folder)) assertPrivate(folder, uid);
  chownSync(folder, uid, gid);
  return folder;
}

/** Copies the npm package's programs into `folder`, once per version; a system server stays where it is. */
export function relocatedPrograms(programs: PostgresPrograms, folder: string): PostgresPrograms {
  if (programs.origin === "system") return programs;
  const native = dirname(programs.binFolder);
  const copy = join(folder, `native-${programs.major}`);
  if (!existsSync(copy)) {
    const partial = `${copy}.partial`;
    rmSync(partial, { recursive: true, force: true });
    cpSync(native, partial, { recursive: true, verbatimSymlinks: true });
    renameSync(partial, copy);
  }
  return { ...programs, binFolder: join(copy, basename(programs.binFolder)) };
}

function createExclusively(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  }
}

function assertPrivate(folder: string, uid: number): void {
  const found = lstatSync(folder);
  // Owned by root: an earlier start died between creating it and giving it away.
  const isOurs = found.isDirectory() && (found.uid === uid || found.uid === 0) && (found.mode & 0o077) === 0;
  if (!isOurs) throw new Error(`${folder} was made by somebody else: remove it, or set DATABASE_URL`);
}
