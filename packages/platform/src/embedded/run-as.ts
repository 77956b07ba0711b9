import { spawnSync } from "node:child_process";
import { chownSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** How a server is started so that it does not run as root, which PostgreSQL refuses. */
export interface RunAs {
  /** `self`: as we are. `user`: with another user's id. `namespace`: as root that calls itself another user. */
  readonly kind: "self" | "user" | "namespace";
  readonly ids: { readonly uid?: number; readonly gid?: number };
  /** The program and arguments that start `program` this way. */
  readonly command: (program: string, args: readonly string[]) => readonly [string, readonly string[]];
  /** Gives a file or folder to the user the server runs as. */
  readonly own: (path: string) => void;
}

interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Runs the server as this process's own user. */
export const AS_SELF: RunAs = {
  kind: "self",
  ids: {},
  command: (program, args) => [program, args],
  own: () => undefined,
};

/** Whether servers need another user: true for root. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * The unprivileged account for servers of root: `postgres`, else `nobody`. It has to stand in the password file,
 * because initdb looks its own name up there.
 * @throws Error when neither account exists.
 */
export function serverAccount(): Account {
  const accounts = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"))
    .map(([name, , uid, gid]) => ({ name: name ?? "", uid: Number(uid), gid: Number(gid) }));
  const account =
    accounts.find(({ name }) => name === "postgres" || name === "_postgres") ??
    accounts.find(({ name }) => name === "nobody");
  if (account === undefined)
    throw new Error("PostgreSQL refuses to run as root and there is no user postgres or nobody");
  return account;
}

/** Starts the server with the account's ids. Works only where that account can enter the folders. */
export function asAccount({ uid, gid }: Account): RunAs {
  return { kind: "user", ids: { uid, gid }, command: AS_SELF.command, own: (path) => chownSync(path, uid, gid) };
}

/**
 * Starts the server in a user namespace where root's files belong to the account: for a project below a folder that
 * others cannot enter. `null` when the kernel forbids it or the folders belong to a third user.
 */
export function asNamespace({ uid, gid }: Account, binFolder: string, dataParent: string): RunAs | null {
  const enter = ["--user", `--map-user=${uid}`, `--map-group=${gid}`, "--"];
  const probe = 'cd "$1" && test -w . && "$2" --version';
  const tried = spawnSync("unshare", [...enter, "sh", "-c", probe, "sh", dataParent, join(binFolder, "postgres")], {
    stdio: "ignore",
  });
  if (tried.status !== 0) return null;
  return {
    kind: "namespace",
    ids: {},
    command: (program, args) => ["unshare", [...enter, program, ...args]],
    own: () => undefined,
  };
}

/** Whether any user can enter `folder`: every folder on the way has the execute bit for others. */
export function isOpenToAll(folder: string): boolean {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
}
