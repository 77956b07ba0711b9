import {
  claimIdempotencyKey,
  storeAnswer,
  withTenant,
  type IdempotentRequest,
  type StoredAnswer,
  type Tx,
} from "@shiftwork/db";
import { canonicalJson } from "@shiftwork/pipeline";
import { createHash } from "node:crypto";
import type { ApiDependencies } from "./api-dependencies.ts";
import { fieldProblem, HttpProblem } from "./errors.ts";
import type { Answer, Call } from "./routes/endpoint.ts";

/** `jobs.md` §12. */
const LONGEST_KEY_BYTES = 255;
/** How long a repeat waits for the first request's transaction before it is told to come back. */
const WAIT_MS = 2_000;

/** An answer, and the generation it is about, when a repeat has to find that again. */
export type OnceAnswer<Result> = Answer<Result> & { readonly generationId?: string };

/**
 * Runs `work` in one tenant transaction, at most once per `Idempotency-Key`: key, rows and answer commit together, a
 * repeat gets the stored answer, and a failed request leaves nothing. `fingerprint` defaults to body and query.
 */
export async function answerOnce<Result extends object>(
  deps: Pick<ApiDependencies, "db">,
  call: Call,
  work: (tx: Tx) => Promise<OnceAnswer<Result>>,
  fingerprint: unknown = { body: call.body ?? null, query: call.query ?? null },
): Promise<OnceAnswer<Result>> {
  const { tenantId } = call.caller;
  const request = idempotentRequest(call, fingerprint);
  return withTenant(deps.db, tenantId, async (tx) => {
    if (request === null) return work(tx);
    const claim = await claimIdempotencyKey(tx, tenantId, request, WAIT_MS);
    if (claim.outcome === "in_progress") throw inProgress();
    if (claim.outcome === "known") return replay<Result>(request, claim.answer);
    const answer = await work(tx);
    await storeAnswer(tx, tenantId, request, {
      status: answer.status,
      body: { headers: answer.headers ?? {}, body: answer.body },
      generationId: answer.generationId ?? null,
    });
    return answer;
  });
}

function idempotentRequest(call: Call, fingerprint: unknown): IdempotentRequest | null {
  const key = call.request.headers["idempotency-key"];
  if (key === undefined) return null;
  if (typeof key !== "string" || key === "" || Buffer.byteLength(key) > LONGEST_KEY_BYTES) {
    const text = `Idempotency-Key is 1 to ${LONGEST_KEY_BYTES} bytes.`;
    throw fieldProblem("VALIDATION_FAILED", "/Idempotency-Key", text, "Send a shorter one, such as a UUID.");
  }
  // As the router reads it: a path may be written with escapes that mean the same.
  const path = decodeURI(call.request.url.split(/[?#]/)[0] ?? "");
  // The owner belongs to it: one end user must never be handed the answer another one got.
  const same = canonicalJson([fingerprint, call.caller.ownerId]);
  return { method: call.request.method, path, key, fingerprint: createHash("sha256").update(same).digest() };
}

function replay<Result>(request: IdempotentRequest, stored: StoredAnswer): OnceAnswer<Result> {
  if (!Buffer.from(request.fingerprint).equals(Buffer.from(stored.fingerprint))) {
    throw new HttpProblem("IDEMPOTENCY_KEY_REUSED", "This Idempotency-Key was sent with another request before.");
  }
  const { headers, body } = stored.body as { headers: { [name: string]: string }; body: Result };
  return {
    status: stored.status,
    body,
    headers: { ...headers, "idempotency-replayed": "true" },
    ...(stored.generationId === null ? {} : { generationId: stored.generationId }),
  };
}

function inProgress(): HttpProblem {
  return new HttpProblem("IDEMPOTENCY_IN_PROGRESS", "The first request with this Idempotency-Key is still running.", {
    retryAfterSeconds: 2,
  });
}
