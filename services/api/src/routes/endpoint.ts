import type { ErrorCode, Scope } from "@shiftwork/contracts";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import type { ApiDependencies } from "../api-dependencies.ts";
import type { Caller } from "../auth/caller.ts";

/** A request that was authenticated and checked. */
export interface Call<Query = unknown, Body = unknown> {
  readonly caller: Caller;
  readonly params: { readonly [name: string]: string };
  readonly query: Query;
  readonly body: Body;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export interface Answer<Result = unknown> {
  readonly status: number;
  readonly body: Result;
  readonly headers?: { readonly [name: string]: string };
}

/** The handler has sent the answer itself: on the raw socket, or as bytes that are JSON already. */
export const STREAMED = Symbol("streamed");

/**
 * Which tenants an endpoint is about: the caller's one; that or, for an admin who sends `X-Tenant-Id: *`, all of them;
 * or the installation, which is an admin's affair.
 */
export type Tenancy = "one" | "one or all" | "none";

/** One endpoint: everything the router, the OpenAPI document and the tests need to know of it. */
export interface Endpoint<Query = unknown, Body = unknown, Result = unknown> {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Path parameters are named after what they identify: `:chatId` is a chat's id. */
  readonly path: string;
  readonly tag:
    | "Authoring"
    | "Lore"
    | "Chats"
    | "Generations"
    | "Context"
    | "Settings"
    | "Imports"
    | "Operations"
    | "Service";
  readonly summary: string;
  /** `any key` = authenticated, no scope of its own; `public` = no key; of several, one is needed, and the handler says which. */
  readonly scope: Scope | readonly [Scope, ...Scope[]] | "any key" | "public";
  /** Default `one`. */
  readonly tenancy?: Tenancy;
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  /** Schema of the body of a success; `null` = none. */
  readonly result: z.ZodType<Result> | null;
  /** Statuses of a success, the usual one first. */
  readonly statuses: readonly [number, ...number[]];
  /** Also answers as `text/event-stream`. */
  readonly streams?: boolean;
  /** Holds its answer back until the generation has ended when `Prefer: wait` asks for it; then how it failed is told. */
  readonly waits?: boolean;
  /** Schema of a multipart form; the handler reads and checks it, because it holds a file. */
  readonly form?: z.ZodType;
  /** What can go wrong besides what can go wrong everywhere. */
  readonly errors: readonly ErrorCode[];
  handle(deps: ApiDependencies, call: Call<Query, Body>): Promise<Answer<Result> | typeof STREAMED>;
}

/** Names the type parameters of an endpoint from its schemas. */
export function endpoint<Query, Body, Result>(
  definition: Endpoint<Query, Body, Result>,
): Endpoint<Query, Body, Result> {
  return definition;
}

export function ok<Result>(body: Result, headers: Answer["headers"] = {}): Answer<Result> {
  return { status: 200, body, headers };
}

export function created<Result>(location: string, body: Result): Answer<Result> {
  return { status: 201, body, headers: { location } };
}
