import {
  ERROR_FACTS,
  problem,
  type ErrorCode,
  type FieldProblem,
  type IdKind,
  type Problem,
  type ProblemDetails,
} from "@shiftwork/contracts";

/** The one map from error code to HTTP status (`api.md` §7); title, retry advice and origin are in `ERROR_FACTS`. */
export const HTTP_STATUS = {
  VALIDATION_FAILED: 400,
  INVALID_JSON: 400,
  INVALID_CURSOR: 400,
  UNKNOWN_PARAMETER: 400,
  UNAUTHENTICATED: 401,
  KEY_EXPIRED: 401,
  KEY_REVOKED: 401,
  INSUFFICIENT_SCOPE: 403,
  NOT_FOUND: 404,
  CHAT_NOT_FOUND: 404,
  CHARACTER_NOT_FOUND: 404,
  PERSONA_NOT_FOUND: 404,
  LOREBOOK_NOT_FOUND: 404,
  LORE_ENTRY_NOT_FOUND: 404,
  MEMORY_NOT_FOUND: 404,
  MESSAGE_NOT_FOUND: 404,
  GENERATION_NOT_FOUND: 404,
  PROVIDER_NOT_FOUND: 404,
  IMPORT_NOT_FOUND: 404,
  TENANT_NOT_FOUND: 404,
  BULK_ACTION_NOT_FOUND: 404,
  ERROR_GROUP_NOT_FOUND: 404,
  BRANCH_NOT_FOUND: 404,
  TOKENIZER_NOT_FOUND: 404,
  CONFLICT: 409,
  GENERATION_ALREADY_FINISHED: 409,
  CHAT_BUSY: 409,
  IDEMPOTENCY_IN_PROGRESS: 409,
  GENERATION_CANCELLED: 409,
  AUDIT_NOT_AVAILABLE: 409,
  ASSEMBLY_CHANGED: 409,
  AUDIT_REPLACED: 410,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  TOKEN_BUDGET_EXCEEDED: 422,
  IDEMPOTENCY_KEY_REUSED: 422,
  TEMPLATE_ERROR: 422,
  REGEX_REJECTED: 422,
  STRATEGY_UNKNOWN: 422,
  STRATEGY_REJECTED: 422,
  MODEL_UNKNOWN: 422,
  IMPORT_INVALID: 422,
  TOKENIZER_INVALID: 422,
  PROVIDER_CONTENT_FILTERED: 422,
  RATE_LIMITED: 429,
  QUOTA_EXCEEDED: 429,
  QUEUE_FULL: 429,
  WORKER_LOST: 500,
  PLUGIN_FAILED: 500,
  INTERNAL: 500,
  PROVIDER_AUTH_FAILED: 502,
  PROVIDER_UNAVAILABLE: 502,
  PROVIDER_STREAM_INTERRUPTED: 502,
  PROVIDER_BAD_RESPONSE: 502,
  PROVIDER_CONTEXT_LENGTH: 502,
  PROVIDER_REJECTED_REQUEST: 502,
  EMPTY_COMPLETION: 502,
  PROVIDER_RATE_LIMITED: 503,
  SERVICE_UNAVAILABLE: 503,
  SHUTTING_DOWN: 503,
  MIGRATION_PENDING: 503,
  DEADLINE_EXCEEDED: 504,
  PROVIDER_TIMEOUT: 504,
} as const satisfies Record<ErrorCode, number>;

export interface ProblemFacts {
  readonly params?: Problem["params"];
  readonly errors?: readonly FieldProblem[];
  /** Sent as `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** Default: what is true of the code in general. */
  readonly retryable?: boolean;
}

/** Thrown anywhere in a handler; answered as `application/problem+json`. `detail` is ours: no SQL, no upstream text. */
export class HttpProblem extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly params: Problem["params"];
  readonly errors: readonly FieldProblem[];
  readonly retryAfterSeconds: number | null;
  readonly retryable: boolean;

  constructor(code: ErrorCode, detail: string, facts: ProblemFacts = {}) {
    super(detail);
    this.name = "HttpProblem";
    this.code = code;
    this.status = HTTP_STATUS[code];
    this.params = facts.params ?? {};
    this.errors = facts.errors ?? [];
    this.retryAfterSeconds = facts.retryAfterSeconds ?? null;
    this.retryable = facts.retryable ?? ERROR_FACTS[code].retryable;
  }
}

/** A problem with one field of the request. */
export function fieldProblem(
  code: ErrorCode,
  pointer: string,
  message: string,
  fix: string,
  fieldCode = "invalid",
): HttpProblem {
  return new HttpProblem(code, message, { errors: [{ pointer, code: fieldCode, message, fix }] });
}

const NOT_FOUND_CODES = {
  chat: "CHAT_NOT_FOUND",
  character: "CHARACTER_NOT_FOUND",
  persona: "PERSONA_NOT_FOUND",
  lorebook: "LOREBOOK_NOT_FOUND",
  loreEntry: "LORE_ENTRY_NOT_FOUND",
  memory: "MEMORY_NOT_FOUND",
  message: "MESSAGE_NOT_FOUND",
  generation: "GENERATION_NOT_FOUND",
  provider: "PROVIDER_NOT_FOUND",
  import: "IMPORT_NOT_FOUND",
  tenant: "TENANT_NOT_FOUND",
  bulkAction: "BULK_ACTION_NOT_FOUND",
  branch: "BRANCH_NOT_FOUND",
  tokenizer: "TOKENIZER_NOT_FOUND",
} as const satisfies Partial<Record<IdKind | "branch", ErrorCode>>;
export type FindableKind = keyof typeof NOT_FOUND_CODES;

/** The same answer for an id that never was, one of another tenant, and one of another owner. */
export function notFound(kind: FindableKind): HttpProblem {
  const code = NOT_FOUND_CODES[kind];
  return new HttpProblem(code, `${ERROR_FACTS[code].title}, or it is not visible to this key.`);
}

export interface ProblemContext {
  /** Path of the request, without its query. */
  readonly instance: string;
  readonly requestId: string;
  readonly traceId: string | null;
}

/** The body of a problem response. */
export function problemDetails(error: HttpProblem, context: ProblemContext): ProblemDetails {
  return {
    ...problem(error.code, error.message, error.params),
    retryable: error.retryable,
    type: `urn:shiftwork:error:${error.code.toLowerCase().replaceAll("_", "-")}`,
    status: error.status,
    instance: context.instance,
    requestId: context.requestId,
    ...(context.traceId === null ? {} : { traceId: context.traceId }),
    errors: [...error.errors],
  };
}
