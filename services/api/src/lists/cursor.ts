import { createHash } from "node:crypto";
import { fieldProblem, type HttpProblem } from "../errors.ts";
import type { Answer, Call } from "../routes/endpoint.ts";

/** Where a page ended: the sort key of its last row. */
export type CursorKey = readonly (string | number)[];

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The row a list sorted by id goes on after; `null` = from the beginning. */
export function idCursor(call: ListCall): string | null {
  const key = readCursor(call);
  if (key === null) return null;
  const [id] = key;
  if (typeof id !== "string" || !UUID.test(id)) throw invalidCursor();
  return id;
}

/** The numbers a list sorted by numbers goes on after; `null` = from the beginning. */
export function numberCursor(call: ListCall, count: number): readonly number[] | null {
  const key = readCursor(call);
  if (key === null) return null;
  const numbers = key.filter((part) => typeof part === "number" && Number.isInteger(part) && Math.abs(part) < 2 ** 31);
  if (numbers.length !== count || key.length !== count) throw invalidCursor();
  return numbers as readonly number[];
}

interface ListQuery {
  readonly limit: number;
  readonly include?: string | undefined;
  readonly cursor?: string | undefined;
}
/** The part of a call that a list reads. */
export type ListCall = Pick<Call<ListQuery>, "query" | "request" | "caller">;

/**
 * A page of `rows`, which were asked for with `limit + 1`: the surplus row says that there are more. The cursor is bound
 * to the list and its filter.
 */
export function pageAnswer<Row, Item>(
  call: ListCall,
  rows: readonly Row[],
  list: { readonly keyOf: (row: Row) => CursorKey; readonly toItem: (row: Row) => Item },
): Answer<{ items: Item[]; nextCursor: string | null; hasMore: boolean }> {
  const shown = rows.slice(0, call.query.limit);
  const last = shown.at(-1);
  const hasMore = rows.length > shown.length;
  const nextCursor = hasMore && last !== undefined ? writeCursor(call, list.keyOf(last)) : null;
  const body = { items: shown.map(list.toItem), nextCursor, hasMore };
  return { status: 200, body, headers: nextCursor === null ? {} : { link: nextLink(call, nextCursor) } };
}

function writeCursor(call: ListCall, key: CursorKey): string {
  return Buffer.from(JSON.stringify([scopeOf(call), ...key])).toString("base64url");
}

function readCursor(call: ListCall): CursorKey | null {
  const { cursor } = call.query;
  if (cursor === undefined) return null;
  const parsed = parse(Buffer.from(cursor, "base64url").toString("utf8"));
  if (!Array.isArray(parsed) || parsed[0] !== scopeOf(call)) throw invalidCursor();
  return parsed.slice(1) as CursorKey;
}

/** Names the list and its filter: a cursor of another one would silently skip rows. */
function scopeOf({ query, request }: ListCall): string {
  const { limit: _limit, cursor: _cursor, include: _include, ...filter } = query;
  const named = Object.entries(filter).sort(([left], [right]) => (left < right ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify([pathOf(request.url), named]))
    .digest("base64url")
    .slice(0, 12);
}

function nextLink({ request }: ListCall, cursor: string): string {
  const [path = "", query = ""] = request.url.split("?");
  const parameters = new URLSearchParams(query);
  parameters.set("cursor", cursor);
  return `<${path}?${parameters.toString()}>; rel="next"`;
}

function pathOf(url: string): string {
  return url.split("?")[0] ?? "";
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function invalidCursor(): HttpProblem {
  const text = "The cursor is not one this list gave out with this filter.";
  return fieldProblem(
    "INVALID_CURSOR",
    "/cursor",
    text,
    "Leave it out to begin anew, or keep the filter it came with.",
  );
}
