import { withTenant, type IdPage, type Tx } from "@shiftwork/db";
import type { ApiDependencies } from "../api-dependencies.ts";
import type { Answer } from "../routes/endpoint.ts";
import { idCursor, pageAnswer, type ListCall } from "./cursor.ts";

/** One page of a list sorted by id, read in one transaction of the caller's tenant. */
export async function pageById<Row extends { readonly id: string }, Item>(
  deps: Pick<ApiDependencies, "db">,
  call: ListCall,
  list: {
    readonly read: (tx: Tx, tenantId: string, page: IdPage) => Promise<readonly Row[]>;
    readonly toItem: (row: Row) => Item;
  },
): Promise<Answer<{ items: Item[]; nextCursor: string | null; hasMore: boolean }>> {
  const { tenantId } = call.caller;
  const page = { limit: call.query.limit + 1, afterId: idCursor(call) };
  const rows = await withTenant(deps.db, tenantId, (tx) => list.read(tx, tenantId, page));
  return pageAnswer(call, rows, { keyOf: (row) => [row.id], toItem: list.toItem });
}
