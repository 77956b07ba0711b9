import type { FastifyInstance } from "fastify";
import { fieldProblem, type HttpProblem } from "../errors.ts";

/** Deepest nesting: what walks a body afterwards, and PostgreSQL's jsonb, recurse. */
const DEEPEST = 64;
/** With the `u` flag a surrogate pair is one character, so the class finds only halves. */
const UNSTORABLE = /[\0\p{Surrogate}]/u;

/** Parses JSON bodies; an empty one counts as absent. What the database could not store is refused here, by its field. */
export function addJsonBody(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeContentTypeParser(["application/json", "text/plain"]);
  app.addContentTypeParser("application/json", { parseAs: "string" }, (request, text, done) => {
    if (text === "") return done(null, undefined);
    return parse(request, text.toString(), (error: Error | null, body?: unknown) => {
      if (error) return done(fieldProblem("INVALID_JSON", "", "The body is not valid JSON.", "Send one JSON value."));
      return done(findUnstorable(body), body);
    });
  });
}

/** Walks with a list of its own, because the depth is what is being checked. */
function findUnstorable(body: unknown): HttpProblem | null {
  const left: { readonly value: unknown; readonly pointer: string; readonly depth: number }[] = [
    { value: body, pointer: "", depth: 0 },
  ];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value, pointer, depth } = next;
    if (typeof value === "string" && UNSTORABLE.test(value)) return unstorable(pointer);
    if (typeof value !== "object" || value === null) continue;
    if (depth === DEEPEST) return tooDeep(pointer);
    for (const [key, member] of Object.entries(value)) {
      if (UNSTORABLE.test(key)) return unstorable(pointer);
      left.push({ value: member, pointer: `${pointer}/${escapePointer(key)}`, depth: depth + 1 });
    }
  }
  return null;
}

/** A key as a token of a JSON Pointer (RFC 6901). */
export function escapePointer(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

function unstorable(pointer: string): HttpProblem {
  const message = "The text holds U+0000 or half a surrogate pair.";
  return fieldProblem("VALIDATION_FAILED", pointer, message, "Remove these characters.", "unstorable_text");
}

function tooDeep(pointer: string): HttpProblem {
  const message = `The body is nested deeper than ${DEEPEST} levels.`;
  return fieldProblem("VALIDATION_FAILED", pointer, message, "Flatten it.", "too_deep");
}
