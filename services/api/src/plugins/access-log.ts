import { decodeId, encodeId, type IdKind } from "@shiftwork/contracts";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { traceIdOf } from "./request-identity.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The generation this request has made or attached to, as a UUID: it stands in no path. `null` = none. */
    generationId: string | null;
  }
}

/**
 * One line per request: the route's pattern and the ids in its path, never its query or body. A client that leaves before
 * the end of its answer has one too, with `clientLeft`; its `status` is `null` when nothing was sent yet.
 */
export function addAccessLog(app: FastifyInstance): void {
  const logged = new WeakSet<FastifyRequest>();
  const logOnce = (request: FastifyRequest, reply: FastifyReply, end: RequestEnd): void => {
    if (!logged.has(request)) writeLine(request, reply, end);
    logged.add(request);
  };
  app.decorateRequest("generationId", null);
  app.addHook("onRequest", async (request, reply) => {
    const { raw } = reply;
    raw.once("close", () =>
      logOnce(request, reply, { status: raw.headersSent ? raw.statusCode : null, clientLeft: true }),
    );
  });
  app.addHook("onResponse", async (request, reply) => logOnce(request, reply, { status: reply.statusCode }));
}

interface RequestEnd {
  readonly status: number | null;
  readonly clientLeft?: true;
}

function writeLine(request: FastifyRequest, reply: FastifyReply, end: RequestEnd): void {
  const { caller, generationId } = request;
  const traceId = traceIdOf(request);
  request.log.info(
    {
      method: request.method,
      route: request.routeOptions.url ?? "(none)",
      ...end,
      ...(traceId === null ? {} : { traceId }),
      ...(caller === null ? {} : { tenantId: encodeId("tenant", caller.tenantId) }),
      ...idsOf(request),
      ...(generationId === null ? {} : { generationId: encodeId("generation", generationId) }),
      durationMs: Math.round(reply.elapsedTime),
    },
    "request",
  );
}

const LOGGED_IDS = { chatId: "chat", generationId: "generation" } as const satisfies Record<string, IdKind>;

/** Ids only: what else a caller writes into a path is not ours to log. */
function idsOf({ params }: FastifyRequest): { readonly [name: string]: string } {
  const named = Object.entries((params ?? {}) as { readonly [name: string]: string });
  const kinds: { readonly [name: string]: IdKind } = LOGGED_IDS;
  return Object.fromEntries(
    named.filter(([name, value]) => {
      const kind = kinds[name];
      return kind !== undefined && decodeId(kind, value) !== null;
    }),
  );
}
