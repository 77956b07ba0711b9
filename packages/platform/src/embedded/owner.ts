import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { isRunning, type ProcessRecord } from "./process-identity.ts";

const POLL_MS = 50;
/** An owner whose launcher is gone is stopping its servers: it gets this long. */
const LEAVING_MS = 20_000;

/** The content of `owner.json`: who runs servers in a data folder, and where they answer. */
export interface Owner {
  readonly guard: ProcessRecord;
  readonly launcher: ProcessRecord;
  /** `null` until the server is up. */
  readonly databaseUrl: string | null;
  readonly redisUrl: string | null;
}

/**
 * Makes `me` the one owner of `dir`. A dead owner is replaced; one that is shutting down is waited for.
 * @returns `null` when the folder is ours, else its living owner.
 */
export async function claimFolder(dir: string, me: Owner): Promise<Owner | null> {
  for (let waited = 0; ; waited += POLL_MS) {
    if (createOwner(dir, me)) return null;
    const owner = parseOwner(ownerFile(dir));
    if (owner === null || !isRunning(owner.guard)) {
      removeDead(dir, owner);
    } else {
      if (isRunning(owner.launcher) || waited > LEAVING_MS) return owner;
      await wait(POLL_MS);
    }
  }
}

/** Rewrites the owner file. Only its owner may. */
export function updateOwner(dir: string, me: Owner): void {
  renameSync(writeAside(dir, me), ownerFile(dir));
}

/** Gives the folder up. */
export function releaseFolder(dir: string): void {
  rmSync(ownerFile(dir), { force: true });
}

/** A link is all or nothing: the file is never seen half-written, and the second of two starts fails. */
function createOwner(dir: string, me: Owner): boolean {
  const aside = writeAside(dir, me);
  try {
    return linkUnlessTaken(aside, ownerFile(dir));
  } finally {
    rmSync(aside, { force: true });
  }
}

/**
 * Removes a dead owner's file. It is moved away first and looked at again, because another start may have claimed the
 * folder since: then it is put back.
 */
function removeDead(dir: string, dead: Owner | null): void {
  const moved = join(dir, `owner.${process.pid}.dead`);
  try {
    renameSync(ownerFile(dir), moved);
  } catch {
    return;
  }
  const found = parseOwner(moved);
  const isTheDead = found?.guard.pid === dead?.guard.pid && found?.guard.startedAt === dead?.guard.startedAt;
  if (!isTheDead) linkUnlessTaken(moved, ownerFile(dir));
  rmSync(moved);
}

function linkUnlessTaken(existing: string, link: string): boolean {
  try {
    linkSync(existing, link);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  }
}

function parseOwner(file: string): Owner | null {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Owner;
  } catch {
    return null;
  }
}

function writeAside(dir: string, me: Owner): string {
  const aside = join(dir, `owner.${process.pid}.new`);
  writeFileSync(aside, `${JSON.stringify(me, null, 2)}\n`, { mode: 0o600 });
  return aside;
}

function ownerFile(dir: string): string {
  return join(dir, "owner.json");
}
