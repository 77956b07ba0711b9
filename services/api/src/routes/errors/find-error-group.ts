import { ERROR_FACTS, LARGEST_COUNT } from "@shiftwork/contracts";
import { listErrorGroups, type ErrorGroupRow, type Tx } from "@shiftwork/db";
import type { Caller } from "../../auth/caller.ts";
import { HttpProblem } from "../../errors.ts";

/** The failures with this fingerprint; a kind that never happened to this tenant or owner is missing. */
export async function findErrorGroup(tx: Tx, caller: Caller, fingerprint: string): Promise<ErrorGroupRow> {
  const page = { limit: 1, afterId: null, countedUpTo: LARGEST_COUNT };
  const [row] = await listErrorGroups(tx, caller.tenantId, caller.ownerId, { fingerprint }, page);
  if (row) return row;
  throw new HttpProblem("ERROR_GROUP_NOT_FOUND", `${ERROR_FACTS.ERROR_GROUP_NOT_FOUND.title}.`);
}
