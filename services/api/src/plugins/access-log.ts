import { decodeId, encodeId, type IdKind } from "@shiftwork/contracts";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { traceIdOf } from "./request-identity.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The generation this request has made or attached to, as a UUID: it stands in no path. `null` = none. */
    generationId: string | null;
  }
}

/** One line per answered request: the route's pattern and the ids in its path, never its query or body. */
export function addAccessLog(app: FastifyInstance): void {
  app.decorateRequest("generationId", null);
  app.addHook("onResponse", async (request, reply) => {
    const { caller, generationId } = request;
    const traceId = traceIdOf(request);
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url ?? "(none)",
        status: reply.statusCode,
        ...(traceId === null ? {} : { traceId }),
        ...(caller === null ? {} : { tenantId: encodeId("tenant", caller.tenantId) }),
        ...idsOf(request),
        ...(generationId === null ? {} : { generationId: encodeId("generation", generationId) }),
        durationMs: Math.round(reply.elapsedTime),
      },
      "request",
    );
  });
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
