import { fieldProblem } from "../../errors.ts";

/** Largest `meta`, in bytes of JSON: twice what one request carries. Small additions must not pile up without end. */
const MOST_BYTES = 2 * 1024 * 1024;

/** The stored `meta` with the change in it; `null` takes a key out. Throws when it has become too large. */
export function changedMeta(stored: object, change: { readonly [key: string]: unknown }): object {
  const taken = new Set(Object.keys(change).filter((key) => change[key] === null));
  const meta = Object.fromEntries(Object.entries({ ...stored, ...change }).filter(([key]) => !taken.has(key)));
  // The imported line may be as large as its file allows; nobody can add to it.
  const { source: _source, ...own } = meta;
  if (Buffer.byteLength(JSON.stringify(own)) <= MOST_BYTES) return meta;
  throw fieldProblem("VALIDATION_FAILED", "/meta", `It would hold more than ${MOST_BYTES} bytes.`, "Take keys out.");
}
