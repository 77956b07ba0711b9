import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { PostgresPrograms } from "./find-postgres.ts";
import { relocatedFolder, relocatedPrograms } from "./relocate.ts";
import { AS_SELF, asAccount, asNamespace, isOpenToAll, isRoot, serverAccount, type RunAs } from "./run-as.ts";

export interface PostgresPlace {
  readonly programs: PostgresPrograms;
  /** Holds the cluster, its log and its password; one per major version. */
  readonly folder: string;
  readonly runAs: RunAs;
}

/**
 * Decides where the cluster lives and as whom the server runs. An ordinary user: in `dir`, as itself. Root: in `dir`
 * as the server's account when that can get there, else in a user namespace, else in a copy outside the project.
 */
export function placePostgres(programs: PostgresPrograms, dir: string): PostgresPlace {
  if (!isRoot()) return settle(programs, dir, AS_SELF);
  const account = serverAccount();
  if (isOpenToAll(programs.binFolder) && isOpenToAll(dir)) return settle(programs, dir, asAccount(account));
  const namespace = asNamespace(account, programs.binFolder, dir);
  if (namespace !== null) return settle(programs, dir, namespace);
  const elsewhere = relocatedFolder(dir, account.uid, account.gid);
  return settle(relocatedPrograms(programs, elsewhere), elsewhere, asAccount(account));
}

function settle(programs: PostgresPrograms, dir: string, runAs: RunAs): PostgresPlace {
  const folder = join(dir, `postgres-${programs.major}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  runAs.own(folder);
  return { programs, folder, runAs };
}
