import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";

/**
 * The first executable file called `name` in `folders`; `null` when there is none. Symbolic links stay: `redis-server`
 * is often a link to a program that decides by the name it was called with.
 */
export function findExecutable(name: string, folders: readonly string[]): string | null {
  for (const folder of folders) {
    const file = join(folder, name);
    if (isExecutable(file)) return file;
  }
  return null;
}

/** Whether `file` is a regular file this process may execute. */
export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
