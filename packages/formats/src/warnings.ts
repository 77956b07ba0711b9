import type { ImportWarning, ImportWarningCode } from "./errors.ts";

/** At most this many are listed one by one, so that a broken file does not make an answer of megabytes. */
const LISTED_WARNINGS = 1_000;

/** What an import has to say, collected while it reads. */
export interface WarningCollector {
  add(code: ImportWarningCode, message: string, place?: { readonly path?: string; readonly line?: number }): void;
  /** In the order found; ends with `more_warnings` when the list was full. */
  list(): readonly ImportWarning[];
}

/** An empty collector that lists up to `LISTED_WARNINGS` and counts the rest. */
export function collectWarnings(): WarningCollector {
  const listed: ImportWarning[] = [];
  let unlisted = 0;
  return {
    add(code, message, place = {}) {
      if (listed.length >= LISTED_WARNINGS) unlisted += 1;
      else listed.push({ code, message, path: place.path ?? null, line: place.line ?? null });
    },
    list() {
      if (unlisted === 0) return [...listed];
      const message = `${unlisted} more were found and are not listed.`;
      return [...listed, { code: "more_warnings", message, path: null, line: null }];
    },
  };
}

/** A collector that files everything under one line of the file. */
export function onLine(warnings: WarningCollector, line: number): WarningCollector {
  return {
    add: (code, message, place = {}) => warnings.add(code, message, { ...place, line }),
    list: () => warnings.list(),
  };
}
