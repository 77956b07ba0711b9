import type { FastifyInstance, FastifyRequest } from "fastify";
import type { IncomingMessage } from "node:http";
import { uuidv7 } from "uuidv7";
import type { Caller } from "../auth/caller.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** `null` until the request is authenticated, and on public routes. */
    caller: Caller | null;
  }
}

/** A caller's own request id is echoed when it is safe to log. */
const REQUEST_ID = /^[A-Za-z0-9_.:-]{1,128}$/;
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The id of a request: the caller's `X-Request-Id`, else a new one. */
export function requestIdOf(request: Pick<IncomingMessage, "headers">): string {
  const sent = request.headers["x-request-id"];
  return typeof sent === "string" && REQUEST_ID.test(sent) ? sent : `req_${uuidv7().replaceAll("-", "")}`;
}

/** Trace id of a W3C `traceparent`, or `null`. */
export function traceIdOf(request: FastifyRequest): string | null {
  const sent = request.headers["traceparent"];
  return typeof sent === "string" ? (TRACEPARENT.exec(sent)?.[1] ?? null) : null;
}

/** Puts request id and API version on every response. Call before plugins: what they add has a caller as well. */
export function addRequestIdentity(app: FastifyInstance): void {
  app.decorateRequest("caller", null);
  app.addHook("onRequest", async (request, reply) => {
    reply.headers({ "x-request-id": request.id, "x-api-version": "2" });
  });
}
