import {
  GENERATION_ERROR_CODES,
  GenerationStreamEvent,
  ProblemDetails,
  type ErrorCode,
  type Scope,
} from "@shiftwork/contracts";
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema, FastifySchemaCompiler } from "fastify";
import { z } from "zod";
import type { ApiDependencies } from "../api-dependencies.ts";
import type { Authenticate } from "../auth/authenticate.ts";
import { requireOneOf, type Caller } from "../auth/caller.ts";
import { fieldProblem, HTTP_STATUS, HttpProblem } from "../errors.ts";
import { validatorCompiler } from "../plugins/validation.ts";
import { ENDPOINTS } from "./index.ts";
import { STREAMED, type Endpoint } from "./endpoint.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** `null` until the request is authenticated, and on public routes. */
    caller: Caller | null;
  }
}

const NOBODY: Caller = { tenantId: "", everyTenant: false, apiKeyId: "", scopes: [], ownerId: null };
const NO_QUERY = z.strictObject({});
/** Headers for the document; what reads one checks it. */
const SENT_HEADERS = {
  tenant: {
    "x-tenant-id": z.string().optional().describe("The tenant; needed with an admin key"),
  },
  owner: {
    "x-owner-id": z.string().optional().describe("Act for this end user: whatever is not theirs looks missing"),
  },
  once: {
    "idempotency-key": z.string().optional().describe("1 to 255 bytes; sent again, the first answer comes back"),
  },
  match: {
    "if-match": z.string().optional().describe("ETag of what is to be changed; 412 when it has changed since"),
  },
  wait: {
    prefer: z
      .string()
      .optional()
      .describe("wait=N: answer when the generation has ended, after N seconds at the latest"),
  },
  resume: {
    "last-event-id": z.string().optional().describe("Number of the last event that arrived; wins over `after`"),
  },
} as const;
const JSON_TYPE = "application/json; charset=utf-8";

/** Adds every endpoint of the registry. */
export function registerEndpoints(app: FastifyInstance, deps: ApiDependencies, authenticate: Authenticate): void {
  for (const [operationId, endpoint] of Object.entries<Endpoint>(ENDPOINTS)) {
    app.route({
      method: endpoint.method,
      url: endpoint.path,
      schema: schemaOf(operationId, endpoint),
      ...(endpoint.form ? { validatorCompiler: exceptBody } : {}),
      onRequest: async (request) => {
        if (endpoint.scope === "public") return;
        request.caller = await authenticate(request.headers, endpoint.tenancy ?? "one");
        const scopes = scopesOf(endpoint);
        if (scopes !== null) requireOneOf(request.caller, scopes);
      },
      preValidation: async (request) => requireBodyType(endpoint, request),
      handler: (request, reply) => answer(deps, endpoint, request, reply),
    });
  }
}

/** A form's schema documents it; its parts arrive while the handler reads them. */
const exceptBody: FastifySchemaCompiler<FastifySchema> = (route) =>
  route.httpPart === "body" ? () => true : validatorCompiler(route as Parameters<typeof validatorCompiler>[0]);

async function answer(
  deps: ApiDependencies,
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { query, body } = request;
  if (!readsBody(endpoint)) requireNoFields(body);
  const params = request.params as { readonly [name: string]: string };
  const result = await endpoint.handle(deps, { caller: request.caller ?? NOBODY, params, query, body, request, reply });
  if (result === STREAMED) return reply;
  reply.code(result.status).headers({ ...result.headers });
  return result.body === null ? reply.send() : reply.type(JSON_TYPE).send(result.body);
}

function readsBody({ body, form }: Endpoint): boolean {
  return body !== undefined || form !== undefined;
}

/** What is sent and not read would pass as done. */
function requireNoFields(body: unknown): void {
  const [field] = Object.keys(body ?? {});
  if (field === undefined) return;
  const pointer = `/${field.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  throw fieldProblem("VALIDATION_FAILED", pointer, "This takes no body.", "Leave it out.", "unknown_field");
}

/** A form sent to a route that reads none would pass as an absent body, and the reverse as an absent form. */
async function requireBodyType(endpoint: Endpoint, request: FastifyRequest): Promise<void> {
  const isForm = (request.headers["content-type"] ?? "").startsWith("multipart/form-data");
  const wantsForm = endpoint.form !== undefined;
  if (isForm === wantsForm) return;
  const wanted = wantsForm ? "multipart/form-data" : "application/json";
  throw new HttpProblem("UNSUPPORTED_MEDIA_TYPE", `Send the body as ${wanted}.`);
}

function schemaOf(operationId: string, endpoint: Endpoint): FastifySchema {
  const names = [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);
  return {
    operationId,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    ...(endpoint.scope === "public"
      ? { security: [] }
      : { security: [{ apiKey: [] }], description: accessText(endpoint) }),
    ...(endpoint.form ? { consumes: ["multipart/form-data"], body: endpoint.form } : {}),
    ...(names.length === 0 ? {} : { params: z.object(Object.fromEntries(names.map((name) => [name, z.string()]))) }),
    querystring: endpoint.query ?? NO_QUERY,
    headers: z.looseObject(headersOf(endpoint)),
    ...(endpoint.body ? { body: endpoint.body } : {}),
    response: { ...successes(endpoint), ...problems(endpoint) },
  };
}

/** The scopes one of which is needed; `null` = none. */
function scopesOf({ scope }: Endpoint): readonly [Scope, ...Scope[]] | null {
  if (scope === "any key" || scope === "public") return null;
  return typeof scope === "string" ? [scope] : scope;
}

function accessText(endpoint: Endpoint): string {
  const scopes = scopesOf(endpoint)?.map((scope) => `\`${scope}\``);
  const access = scopes ? `Scope: ${scopes.join(" or ")}.` : "Any key.";
  return endpoint.tenancy === "one or all" ? `${access} Admin keys may send \`X-Tenant-Id: *\`.` : access;
}

function headersOf(endpoint: Endpoint): z.ZodRawShape {
  const makes = endpoint.errors.includes("IDEMPOTENCY_KEY_REUSED");
  return {
    ...(endpoint.scope === "public" || endpoint.tenancy === "none" ? {} : SENT_HEADERS.tenant),
    ...(endpoint.scope === "public" || endpoint.tenancy === "none" ? {} : SENT_HEADERS.owner),
    ...(makes ? SENT_HEADERS.once : {}),
    ...(endpoint.errors.includes("PRECONDITION_FAILED") ? SENT_HEADERS.match : {}),
    ...(endpoint.waits ? SENT_HEADERS.wait : {}),
    ...(endpoint.streams && endpoint.result === null ? SENT_HEADERS.resume : {}),
  };
}

/** A stream is always 200: its status is sent before its end is known. */
function successes(endpoint: Endpoint): Record<number, unknown> {
  const json = endpoint.result === null ? {} : { "application/json": { schema: endpoint.result } };
  const stream = { "text/event-stream": { schema: GenerationStreamEvent } };
  const { result, streams, statuses } = endpoint;
  const answers = Object.fromEntries(
    statuses.map((status) => [
      status,
      result === null ? z.null().describe("No content") : { description: "Success", content: json },
    ]),
  );
  if (!streams) return answers;
  const ended = statuses.includes(200) ? json : {};
  return { ...answers, 200: { description: "Its events, to the last one", content: { ...ended, ...stream } } };
}

/** What an endpoint may answer because of its kind; its own list names only what it decides itself. */
function impliedErrors(endpoint: Endpoint): readonly ErrorCode[] {
  const makes = endpoint.errors.includes("IDEMPOTENCY_KEY_REUSED");
  return [
    "VALIDATION_FAILED",
    "UNKNOWN_PARAMETER",
    "INTERNAL",
    "SERVICE_UNAVAILABLE",
    ...(endpoint.scope === "public" ? [] : (["UNAUTHENTICATED", "INSUFFICIENT_SCOPE"] as const)),
    ...(readsBody(endpoint) ? (["INVALID_JSON", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"] as const) : []),
    ...(makes ? (["IDEMPOTENCY_IN_PROGRESS"] as const) : []),
    ...(endpoint.waits ? GENERATION_ERROR_CODES : []),
  ];
}

function problems(endpoint: Endpoint): Record<number, unknown> {
  const codes = [...new Set([...impliedErrors(endpoint), ...endpoint.errors])];
  const statuses = [...new Set(codes.map((code) => HTTP_STATUS[code]))];
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: codes.filter((code) => HTTP_STATUS[code] === status).join(", "),
        content: { "application/problem+json": { schema: ProblemDetails } },
      },
    ]),
  );
}
