import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
import { describeDocument, describeRoute } from "./describe-document.ts";

/** Generates the OpenAPI 3.1 document from the routes; the page stands at `/docs`. Call before the routes are added. */
export async function addDocumentation(app: FastifyInstance, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Shiftwork",
        version,
        description:
          "Generation backend for chat products. Lists of codes and reasons are append-only: accept values you do not know.",
        license: { name: "MIT", identifier: "MIT" },
      },
      servers: [{ url: "/" }],
      components: { securitySchemes: { apiKey: { type: "http", scheme: "bearer", bearerFormat: "sw_…" } } },
    },
    transform: describeRoute,
    transformObject: describeDocument,
  });
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    staticCSP:
      "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; frame-ancestors 'none'",
  });
  app.get("/openapi.json", { schema: { hide: true } }, () => app.swagger());
}
