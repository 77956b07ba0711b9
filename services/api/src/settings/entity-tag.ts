import { canonicalJson } from "@shiftwork/pipeline";
import type { FastifyRequest } from "fastify";
import { createHash } from "node:crypto";
import { HttpProblem } from "../errors.ts";
import { ok, type Answer } from "../routes/endpoint.ts";

/** Strong tag of a representation: equal bodies, equal tags. */
export function entityTag(body: object): string {
  return `"${createHash("sha256").update(canonicalJson(body)).digest("base64url").slice(0, 27)}"`;
}

/** The answer with its `ETag`. */
export function tagged<Result extends object>(body: Result): Answer<Result> {
  return ok(body, { etag: entityTag(body) });
}

/** Refuses a change of something that is not as the client last read it. Without `If-Match` nothing is asked for. */
export function requireMatch({ headers }: Pick<FastifyRequest, "headers">, current: object): void {
  const sent = headers["if-match"];
  if (sent === undefined) return;
  const tag = entityTag(current);
  const wanted = sent.split(",").map((each) => each.trim());
  if (wanted.includes("*") || wanted.includes(tag)) return;
  throw new HttpProblem("PRECONDITION_FAILED", "It has changed since it was read; read it again.", {
    params: { etag: tag },
  });
}
