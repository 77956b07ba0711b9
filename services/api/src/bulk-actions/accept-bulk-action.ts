import { decodeId, LARGEST_COUNT, type BulkTarget, type CreateBulkAction } from "@shiftwork/contracts";
import { countGenerations, insertBulkAction, type Counted, type Tx } from "@shiftwork/db";
import { uuidv7 } from "uuidv7";
import type { Caller } from "../auth/caller.ts";
import { notFound } from "../errors.ts";
import { visibleChat } from "../routes/visible.ts";
import { targeted } from "./bulk-target.ts";

/** How many generations the action would be for now. What is named and not visible is missing, as everywhere. */
export async function countTarget(tx: Tx, caller: Caller, body: CreateBulkAction): Promise<Counted> {
  await requireVisible(tx, caller, body);
  return countGenerations(tx, caller.tenantId, targeted(body.action, caller.ownerId, body), LARGEST_COUNT);
}

/** Stores the action; the loop takes it up after the commit. Returns its uuid. */
export async function acceptBulkAction(
  tx: Tx,
  by: { readonly caller: Caller; readonly requestId: string },
  body: CreateBulkAction,
): Promise<string> {
  const { caller, requestId } = by;
  const total = await countTarget(tx, caller, body);
  const id = uuidv7();
  await insertBulkAction(tx, caller.tenantId, {
    id,
    ownerId: caller.ownerId,
    apiKeyId: caller.apiKeyId,
    requestId,
    action: body.action,
    target: { filter: body.filter, ids: body.ids },
    note: body.note ?? null,
    total,
  });
  return id;
}

async function requireVisible(tx: Tx, caller: Caller, { filter, ids }: BulkTarget): Promise<void> {
  if (filter?.chatId !== undefined) await visibleChat(tx, caller, decodeId("chat", filter.chatId) ?? "");
  if (ids === undefined) return;
  const named = new Set(ids);
  const { count } = await countGenerations(
    tx,
    caller.tenantId,
    targeted("cancel", caller.ownerId, { ids: [...named] }),
    named.size,
  );
  if (count < named.size) throw notFound("generation");
}
