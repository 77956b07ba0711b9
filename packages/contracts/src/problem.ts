import type { TokenBudgetExceeded } from "@shiftwork/pipeline";
import type { ErrorCode } from "./error-codes.ts";
import type { Problem } from "./events.ts";

type Facts = Pick<Problem, "title" | "retryable" | "origin">;

/** Title, retryability and origin of every code; the HTTP status is the API's affair (`services/api/src/errors.ts`). */
export const ERROR_FACTS = {
  TOKEN_BUDGET_EXCEEDED: client("Protected context exceeds the token budget"),
  MODEL_UNKNOWN: client("The model's context window is unknown"),
  STRATEGY_UNKNOWN: client("There is no such context strategy"),
  VALIDATION_FAILED: client("The request is not valid"),
  INVALID_JSON: client("The body is not valid JSON"),
  INVALID_CURSOR: client("The cursor does not belong to this list"),
  UNKNOWN_PARAMETER: client("There is no such query parameter"),
  UNAUTHENTICATED: client("A valid API key is needed"),
  KEY_EXPIRED: client("The API key has expired"),
  KEY_REVOKED: client("The API key was revoked"),
  INSUFFICIENT_SCOPE: client("The API key may not do this"),
  NOT_FOUND: client("There is no such resource"),
  CHAT_NOT_FOUND: client("There is no such chat"),
  CHARACTER_NOT_FOUND: client("There is no such character"),
  PERSONA_NOT_FOUND: client("There is no such persona"),
  LOREBOOK_NOT_FOUND: client("There is no such lorebook"),
  LORE_ENTRY_NOT_FOUND: client("There is no such lorebook entry"),
  MEMORY_NOT_FOUND: client("There is no such memory"),
  MESSAGE_NOT_FOUND: client("There is no such message"),
  GENERATION_NOT_FOUND: client("There is no such generation"),
  PROVIDER_NOT_FOUND: client("There is no such provider"),
  IMPORT_NOT_FOUND: client("There is no such import"),
  BRANCH_NOT_FOUND: client("There is no such branch"),
  CONFLICT: client("The resource is not in a state that allows this"),
  GENERATION_ALREADY_FINISHED: client("The generation has already finished"),
  CHAT_BUSY: client("The chat has an active generation"),
  IDEMPOTENCY_IN_PROGRESS: client("The first request with this key is still being accepted", { retryable: true }),
  IDEMPOTENCY_KEY_REUSED: client("This idempotency key was used for another request"),
  AUDIT_REPLACED: client("A newer audit has replaced this one"),
  AUDIT_NOT_AVAILABLE: client("The audit is not available"),
  ASSEMBLY_CHANGED: client("The prompt is not the previewed one any more"),
  PRECONDITION_FAILED: client("The resource has changed"),
  PAYLOAD_TOO_LARGE: client("The request body is too large"),
  UNSUPPORTED_MEDIA_TYPE: client("This media type is not supported"),
  TEMPLATE_ERROR: client("A template cannot be rendered"),
  REGEX_REJECTED: client("A regular expression cannot be used"),
  STRATEGY_REJECTED: platform("A context strategy broke the host's rules"),
  IMPORT_INVALID: client("The file cannot be imported"),
  RATE_LIMITED: client("Too many requests", { retryable: true }),
  QUOTA_EXCEEDED: client("The quota is used up"),
  QUEUE_FULL: platform("Too many generations are waiting", { retryable: true }),
  GENERATION_CANCELLED: client("The generation was cancelled"),
  DEADLINE_EXCEEDED: platform("The generation did not finish by its deadline"),
  PROVIDER_RATE_LIMITED: provider("The model provider limits the rate of requests", { retryable: true }),
  PROVIDER_AUTH_FAILED: provider("The model provider refused the credentials"),
  PROVIDER_UNAVAILABLE: provider("The model provider cannot be reached", { retryable: true }),
  PROVIDER_TIMEOUT: provider("The model provider did not answer in time", { retryable: true }),
  PROVIDER_STREAM_INTERRUPTED: provider("The model provider's stream broke off", { retryable: true }),
  PROVIDER_BAD_RESPONSE: provider("The model provider's answer cannot be read", { retryable: true }),
  PROVIDER_CONTEXT_LENGTH: provider("The model provider found the prompt too long"),
  PROVIDER_CONTENT_FILTERED: provider("The model provider filtered the content"),
  PROVIDER_REJECTED_REQUEST: provider("The model provider rejected the request"),
  EMPTY_COMPLETION: provider("The model answered with nothing"),
  WORKER_LOST: platform("The workers running the generation were lost", { retryable: true }),
  SERVICE_UNAVAILABLE: platform("The service is not available right now", { retryable: true }),
  PLUGIN_FAILED: platform("A plugin failed", { retryable: true }),
  INTERNAL: platform("Something went wrong on our side", { retryable: true }),
  SHUTTING_DOWN: platform("The service is shutting down", { retryable: true }),
  MIGRATION_PENDING: platform("The database is not up to date", { retryable: true }),
  TENANT_NOT_FOUND: client("There is no such tenant"),
  BULK_ACTION_NOT_FOUND: client("There is no such bulk action"),
  ERROR_GROUP_NOT_FOUND: client("There are no failures of this kind"),
  TOKENIZER_NOT_FOUND: client("There is no such tokenizer"),
  TOKENIZER_INVALID: client("The tokenizer cannot be counted by exactly"),
} as const satisfies Record<ErrorCode, Facts>;

/** A problem with its code's facts. `detail` and `params` are ours: never upstream text, URLs or keys. */
export function problem(code: ErrorCode, detail: string, params: Problem["params"] = {}): Problem {
  return { code, ...ERROR_FACTS[code], detail, params };
}

/** What a turn whose protected context does not fit ends with; a preview answers the same. */
export function budgetProblem(error: TokenBudgetExceeded): Problem {
  const { protectedTokens, budgetTokens, contextLimit, reservedForReply, largest } = error;
  const detail = `Protected context needs ${protectedTokens} tokens; ${budgetTokens} are available (${contextLimit} limit − ${reservedForReply} reply).`;
  return problem("TOKEN_BUDGET_EXCEEDED", detail, {
    contextLimit,
    reservedForReply,
    protectedTokens,
    budgetTokens,
    // Labels are content (a lore entry's title): the audit has them, the row that outlives it does not.
    largest: largest.map(({ blockId, source, tokens }) => ({ blockId, source, tokens })),
  });
}

function client(title: string, { retryable = false } = {}): Facts {
  return { title, retryable, origin: "client" };
}

function provider(title: string, { retryable = false } = {}): Facts {
  return { title, retryable, origin: "provider" };
}

function platform(title: string, { retryable = false } = {}): Facts {
  return { title, retryable, origin: "platform" };
}
