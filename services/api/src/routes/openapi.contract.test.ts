import { createLogger, loadPlugins } from "@shiftwork/platform";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { FastifyInstance } from "fastify";
import { createApp } from "../app.ts";
import type { ApiDependencies } from "../api-dependencies.ts";
import { createStreamRegistry } from "../events/stream-registry.ts";
import type { Endpoint } from "./endpoint.ts";
import { ENDPOINTS } from "./index.ts";

type Operation = {
  operationId: string;
  parameters?: { name: string; in: string; required?: boolean; description?: string }[];
  requestBody?: { required?: boolean };
  responses: Record<string, { content?: Record<string, unknown> }>;
  security: object[];
};
interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
}

const listed = Object.entries<Endpoint>(ENDPOINTS);
let app: FastifyInstance;
let document: Document;

beforeAll(async () => {
  // The document comes from the registry alone: nothing that would do I/O is ever called.
  const unused = {} as Pick<ApiDependencies, "db" | "adminDb" | "queue" | "eventLog" | "previewer" | "tokenizers">;
  app = await createApp({
    ...unused,
    streams: createStreamRegistry(),
    logger: createLogger({ level: "silent", name: "test" }),
    pepper: "pepper",
    version: "1.2.3",
    plugins: await loadPlugins([]),
    health: async () => Promise.reject(new Error("not called")),
    wakeBulkActions: () => {},
    deadAfterMs: 1_000,
    readiness: async () => null,
  });
  document = (await app.inject("/openapi.json")).json();
});
afterAll(() => app.close());

test("the document is OpenAPI 3.1 and lists every endpoint once, and nothing else", () => {
  expect(document.openapi).toBe("3.1.0");
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  expect(operations.map((operation) => operation.operationId).sort()).toEqual(listed.map(([id]) => id).sort());
});

test.each(listed)("%s is described: path parameters, success, problems, security", (id, endpoint) => {
  const path = endpoint.path.replaceAll(/:(\w+)/g, "{$1}");
  const operation = document.paths[path]?.[endpoint.method.toLowerCase()];
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const described = (operation?.parameters ?? []).filter((parameter) => parameter.in === "path");
  expect(operation?.operationId).toBe(id);
  expect(described.map((parameter) => parameter.name)).toEqual(names);
  for (const status of endpoint.statuses) expect(operation?.responses).toHaveProperty(String(status));
  expect(operation?.responses["400"]?.content).toHaveProperty(["application/problem+json"]);
  expect(operation?.security).toEqual(endpoint.scope === "public" ? [] : [{ apiKey: [] }]);
  expect(operation?.requestBody === undefined).toBe((endpoint.body ?? endpoint.form) === undefined);
  const types = Object.keys(operation?.responses["200"]?.content ?? {});
  if (endpoint.streams) expect(types).toEqual([...(endpoint.waits ? ["application/json"] : []), "text/event-stream"]);
  const headers = (operation?.parameters ?? []).filter((parameter) => parameter.in === "header");
  const once = headers.find((parameter) => parameter.name === "idempotency-key");
  expect(once !== undefined).toBe(endpoint.errors.includes("IDEMPOTENCY_KEY_REUSED"));
  expect(headers.filter(({ required, description }) => required || !description)).toEqual([]);
});

test("a body that may be left out is described so", () => {
  const required = (path: string) => document.paths[path]?.["post"]?.requestBody?.required;
  expect(required("/api/v2/generations/{generationId}/cancel")).toBe(false);
  expect(required("/api/v2/generations/{generationId}/retry")).toBe(false);
  expect(required("/api/v2/chats/{chatId}/messages")).toBe(true);
});

test("an answer has one name wherever it is given", () => {
  const problem = document.paths["/api/v2/chats"]?.["post"]?.responses["400"]?.content;
  expect(problem).toEqual({ "application/problem+json": { schema: { $ref: "#/components/schemas/ProblemDetails" } } });
});

test("every reference in the document leads somewhere", () => {
  const text = JSON.stringify(document);
  for (const [, reference = ""] of text.matchAll(/"\$ref":"([^"]+)"/g)) {
    const target = reference
      .replace("#/", "")
      .split("/")
      .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document);
    expect(target, reference).toBeDefined();
  }
});

test.each(listed.filter(([, endpoint]) => endpoint.scope !== "public"))(
  "%s without a key is 401",
  async (_id, endpoint) => {
    const response = await app.inject({ method: endpoint.method, url: endpoint.path.replaceAll(/:\w+/g, "x") });
    expect([response.statusCode, response.json().code]).toEqual([401, "UNAUTHENTICATED"]);
    expect(response.headers["www-authenticate"]).toBe("Bearer");
  },
);

test("an unknown route is a problem too", async () => {
  const response = await app.inject("/api/v2/nothing?secret=1");
  expect(response.json()).toMatchObject({ code: "NOT_FOUND", instance: "/api/v2/nothing" });
});

test("a path that cannot be decoded is a problem too", async () => {
  const response = await app.inject("/api/v2/chats/%E0%A4%A");
  expect(response.headers["content-type"]).toBe("application/problem+json");
  expect(response.json()).toMatchObject({ status: 400, code: "VALIDATION_FAILED" });
});

test("the documentation page is there", async () => {
  expect((await app.inject("/docs")).statusCode).toBe(200);
});
