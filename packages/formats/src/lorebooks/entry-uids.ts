import { ownValue, type JsonRecord } from "../json/record.ts";
import type { WarningCollector } from "../warnings.ts";

/** The largest number a 32-bit integer column holds. */
const MOST = 2_147_483_647;

/** An entry object with its key in the container (the index for a list) and its place in the document. */
export interface KeyedEntry {
  readonly key: string;
  readonly path: string;
  readonly value: JsonRecord;
}

/**
 * One number per entry, unique in the book: its own `uid` or `id`, else its key in the container. A number that is
 * taken or unusable is replaced by the next above all others, with a warning.
 */
export function assignUids(entries: readonly KeyedEntry[], warnings: WarningCollector): readonly number[] {
  const wanted = entries.map(wantedUid);
  const taken = new Set<number>();
  let next = wanted.reduce<number>((most, uid) => Math.max(most, uid ?? -1), entries.length - 1) + 1;
  return entries.map(({ path }, index) => {
    const uid = wanted[index] ?? null;
    if (uid !== null && !taken.has(uid)) {
      taken.add(uid);
      return uid;
    }
    warnings.add("entry_renumbered", `The entry's number is missing, taken or no number; it is ${next} now.`, { path });
    return next++;
  });
}

function wantedUid(entry: KeyedEntry): number | null {
  const own = ownValue(entry.value, "uid") ?? ownValue(entry.value, "id");
  return usableUid(own) ?? usableUid(entry.key);
}

/** Numbers near the top stay free for those that must be renumbered. */
function usableUid(value: unknown): number | null {
  const digits = typeof value === "string" && /^\d{1,10}$/.test(value);
  const uid = digits ? Number(value) : value;
  return typeof uid === "number" && Number.isInteger(uid) && uid >= 0 && uid < MOST - 100_000 ? uid : null;
}
