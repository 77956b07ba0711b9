import { encodeId, type GenerationObject } from "@shiftwork/contracts";
import { dispatchAtOnce, withTenant, type Tx } from "@shiftwork/db";
import type { ApiDependencies } from "../../api-dependencies.ts";
import { answerOnce, type OnceAnswer } from "../../answer-once.ts";
import { streamEvents } from "../../events/event-stream.ts";
import { waitForEnd } from "../../events/wait-for-end.ts";
import type { Accepted, AcceptedBy } from "../../generations/accept.ts";
import { endedProblem } from "../../generations/ended-problem.ts";
import { forgetJobs } from "../../generations/forget-jobs.ts";
import { readGenerationObject } from "../../generations/generation-object.ts";
import { handOver } from "../../generations/hand-over.ts";
import { STREAMED, type Answer, type Call } from "../endpoint.ts";
import { preferredWaitSeconds } from "./preferred-wait.ts";

/**
 * Accepts a generation and answers 202 with it, the stream of its events with `Accept: text/event-stream`, or what came
 * of it with `Prefer: wait`. A repeat with the same Idempotency-Key accepts nothing and is answered the same way.
 */
export async function answerAccepted(
  deps: ApiDependencies,
  call: Call,
  accept: (tx: Tx, by: AcceptedBy) => Promise<Accepted>,
): Promise<Answer<GenerationObject> | typeof STREAMED> {
  const { caller, request } = call;
  const by = { caller, requestId: request.id, strategies: deps.plugins.strategies, handsOver: true };
  const committed: (Accepted & { readonly dispatched: boolean })[] = [];
  const answer = await answerOnce(deps, call, async (tx) => {
    const accepted = await accept(tx, by);
    const body = await readGenerationObject(tx, caller, accepted.id);
    committed.push({ ...accepted, dispatched: await dispatchAtOnce(tx, caller.tenantId, accepted.id) });
    return answerOf(accepted.id, body);
  });
  for (const { id, dispatched, stopped } of committed) {
    if (dispatched) await handOver(deps, caller.tenantId, id);
    await forgetJobs(deps, stopped);
  }
  request.generationId = answer.generationId ?? null;
  if (wantsStream(call)) return stream(deps, call, answer);
  return wait(deps, call, answer);
}

/** Where to look, and when. */
function answerOf(id: string, body: GenerationObject): OnceAnswer<GenerationObject> {
  const headers = { location: `/api/v2/generations/${encodeId("generation", id)}`, "retry-after": "1" };
  return { status: 202, body, headers, generationId: id };
}

function wantsStream({ request }: Call): boolean {
  return (request.headers.accept ?? "").includes("text/event-stream");
}

/** A repeat of the request attaches to the same stream, from its beginning. */
async function stream(
  deps: ApiDependencies,
  { caller, request, reply }: Call,
  { generationId, headers = {}, ...answer }: OnceAnswer<GenerationObject>,
): Promise<Answer<GenerationObject> | typeof STREAMED> {
  if (generationId === undefined) return { ...answer, headers };
  const { "retry-after": _later, ...shown } = headers;
  await streamEvents(deps, { request, reply, tenantId: caller.tenantId, generationId, after: 0, headers: shown });
  return STREAMED;
}

/** Holds the answer back for as long as the caller prefers; throws the problem of a generation that has no reply. */
async function wait(
  deps: ApiDependencies,
  { caller, request, reply }: Call,
  accepted: OnceAnswer<GenerationObject>,
): Promise<Answer<GenerationObject>> {
  const seconds = preferredWaitSeconds(request.headers["prefer"]);
  const { generationId } = accepted;
  if (seconds === null || generationId === undefined) return accepted;
  const { tenantId } = caller;
  await waitForEnd(deps, { tenantId, generationId, waitMs: seconds * 1_000, reply });
  const body = await withTenant(deps.db, tenantId, (tx) => readGenerationObject(tx, caller, generationId));
  const { "retry-after": later = "1", ...headers } = { ...accepted.headers };
  const shown = { ...headers, "preference-applied": `wait=${seconds}` };
  if (body.status === "completed") return { status: 200, body, headers: shown };
  const ended = endedProblem(body);
  if (ended === null) return { status: 202, body, headers: { ...shown, "retry-after": later } };
  // The problem says what went wrong; these say of what.
  reply.headers(shown);
  throw ended;
}
