import type { BranchObject } from "@shiftwork/contracts";
import { listBranches, type Tx } from "@shiftwork/db";
import { notFound } from "../../errors.ts";
import { branchObject } from "./branch-object.ts";

/** One branch as clients see it. */
export async function readBranch(tx: Tx, tenantId: string, chatId: string, branch: number): Promise<BranchObject> {
  const [row] = await listBranches(tx, tenantId, chatId, { limit: 1, after: branch - 1 });
  if (row?.branch !== branch) throw notFound("branch");
  return branchObject(row);
}
