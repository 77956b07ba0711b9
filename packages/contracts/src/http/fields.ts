import { z } from "zod";
import { ID_PREFIXES, type IdKind } from "../ids.ts";

/** A public id of one kind, e.g. `chat_0199…`. */
export function publicId(kind: IdKind) {
  return z
    .string()
    .regex(new RegExp(`^${ID_PREFIXES[kind]}_[0-9a-f]{32}$`), `must be an id like ${ID_PREFIXES[kind]}_…`);
}

/** RFC 3339 in UTC. */
export const Timestamp = z.iso.datetime();

/** Free-form data of the caller, stored and given back unread. */
export const Metadata = z.record(z.string().min(1).max(128), z.unknown());

/** Query of every list. `cursor` is opaque and belongs to one list with one filter. */
export const PageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().max(1024).optional(),
});

/** A page of a list, and how to get the next one. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable(), hasMore: z.boolean() });
}

/** Longest text of one field or message, in UTF-16 code units; the whole body is bounded too. */
const LONGEST_TEXT = 1_000_000;
export const Text = z.string().max(LONGEST_TEXT);
export const Name = z.string().trim().min(1).max(500);
