import { decodeId, SHOWN_STATUSES, type BulkTarget, type ShownStatus } from "@shiftwork/contracts";
import type { BulkActionRow, GenerationFilter } from "@shiftwork/db";
import { storedFilter } from "../lists/generation-filter.ts";

type Kind = BulkActionRow["action"];

/** What each action can be done to. */
const ELIGIBLE = {
  cancel: { status: ["queued", "running"] },
  retry: { status: ["failed", "cancelled"] },
  discard: { status: ["failed"], deadLetter: "open" },
} as const satisfies Record<Kind, GenerationFilter>;

/**
 * The generations a bulk action is for: those of the filter that it can be done to, or exactly those that were named; the
 * latter are looked at one by one and skipped when it cannot be done to them any more.
 */
export function targeted(action: Kind, ownerId: string | null, target: BulkTarget): GenerationFilter {
  if (target.ids !== undefined) {
    const ids = [...new Set(target.ids)].map((id) => decodeId("generation", id) ?? "");
    return ownerId === null ? { ids } : { ids, ownerId };
  }
  const filter = storedFilter({ ownerId }, target.filter ?? {});
  const eligible: readonly ShownStatus[] = ELIGIBLE[action].status;
  const wanted: readonly ShownStatus[] = filter.status ?? SHOWN_STATUSES;
  const both = { ...filter, status: eligible.filter((status) => wanted.includes(status)) };
  if (action !== "discard") return both;
  return filter.deadLetter === undefined || filter.deadLetter === "open"
    ? { ...both, deadLetter: "open" }
    : { ...both, status: [] };
}

/** As `targeted`, of what was accepted before the action: its own retries are not. */
export function targetedBefore(row: BulkActionRow, target: BulkTarget): GenerationFilter {
  const filter = targeted(row.action, row.ownerId, target);
  // A Date has lost the microseconds: up to the end of its millisecond.
  const accepted = new Date(row.createdAt.getTime() + 1);
  return filter.until !== undefined && filter.until < accepted ? filter : { ...filter, until: accepted };
}
