import type { WarningCollector } from "../warnings.ts";
import { isRecord, pointer, type JsonRecord } from "./record.ts";

/** Keys that reach a prototype when a consumer merges or assigns objects. */
const PROTOTYPE_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor"]);

/** With the `u` flag a surrogate pair is one character, so the class finds only halves. */
const UNSTORABLE = /[\0\p{Surrogate}]/gu;

/**
 * The same JSON value without what a database or a merge chokes on: U+0000 and lone surrogates become U+FFFD
 * (PostgreSQL stores neither), prototype keys go. Each place is warned of. `value` must not be deep: the walk recurses.
 */
export function storableValue(value: unknown, warnings: WarningCollector): unknown {
  return walk({ warnings, trail: [] }, value);
}

/** The way to the value in hand is one list, grown and cut back: most values need no name for their place. */
interface Walk {
  readonly warnings: WarningCollector;
  readonly trail: (string | number)[];
}

function walk(at: Walk, value: unknown): unknown {
  if (typeof value === "string") return storableText(at, value);
  if (Array.isArray(value)) return value.map((item, index) => step(at, index, item));
  return isRecord(value) ? storableRecord(at, value) : value;
}

function step(at: Walk, key: string | number, value: unknown): unknown {
  at.trail.push(key);
  const stored = walk(at, value);
  at.trail.pop();
  return stored;
}

function storableRecord(at: Walk, record: JsonRecord): JsonRecord {
  const kept: { [key: string]: unknown } = {};
  for (const [key, value] of Object.entries(record)) {
    const storedKey = storableText(at, key);
    if (!PROTOTYPE_KEYS.has(storedKey)) kept[storedKey] = step(at, storedKey, value);
    else
      at.warnings.add("key_dropped", `The key ${storedKey} was removed.`, { path: pathOf([...at.trail, storedKey]) });
  }
  return kept;
}

function storableText(at: Walk, text: string): string {
  const stored = text.replace(UNSTORABLE, "\uFFFD");
  if (stored !== text) {
    const message = "Characters that cannot be stored were replaced by U+FFFD.";
    at.warnings.add("text_repaired", message, { path: pathOf(at.trail) });
  }
  return stored;
}

function pathOf(trail: readonly (string | number)[]): string {
  return trail.reduce<string>((path, key) => pointer(path, key), "");
}
