type Items = readonly (string | number | null)[];

/** A one-dimensional array as PostgreSQL reads it: every item quoted, so that no text can be taken for syntax. */
export function writeArray(items: Items): string {
  const written = items.map((item) => (item === null ? "NULL" : `"${String(item).replace(/["\\]/g, "\\$&")}"`));
  return `{${written.join(",")}}`;
}

/** As the server writes one: items quoted where they have to be, NULL bare. */
export function readArray(text: string): (string | null)[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"|[^{},]+/gs)].map(([bare, quoted]) => {
    if (quoted !== undefined) return quoted.replace(/\\(.)/gs, "$1");
    return bare === "NULL" ? null : bare;
  });
}

function readNumbers(text: string): (number | null)[] {
  return readArray(text).map((item) => (item === null ? null : Number(item)));
}

function arrayType(oid: number, parse: (text: string) => Items) {
  return { to: oid, from: [oid], serialize: writeArray, parse };
}

/**
 * The array types our statements use, by their fixed oids (`pg_type.dat`). Left to itself the driver asks each new
 * connection for all there are, and a connection lost while it does ends the process: nobody awaits that answer.
 */
export const ARRAY_TYPES = {
  textArray: arrayType(1009, readArray),
  nameArray: arrayType(1003, readArray),
  uuidArray: arrayType(2951, readArray),
  integerArray: arrayType(1007, readNumbers),
} as const;
