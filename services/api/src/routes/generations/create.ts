import { CreateGeneration, encodeId, GenerationObject } from "@shiftwork/contracts";
import type { Tx } from "@shiftwork/db";
import type { ApiDependencies } from "../../api-dependencies.ts";
import { answerOnce, type OnceAnswer } from "../../answer-once.ts";
import { streamEvents } from "../../events/event-stream.ts";
import { acceptGeneration } from "../../generations/accept.ts";
import { readGenerationObject } from "../../generations/generation-object.ts";
import { endpoint, STREAMED, type Answer, type Call } from "../endpoint.ts";
import { pathId } from "../ids.ts";

export const createGeneration = endpoint({
  method: "POST",
  path: "/api/v2/chats/:chatId/generations",
  tag: "Generations",
  summary: "Send a turn; answers 202, or the stream of its events with Accept: text/event-stream",
  scope: "generations:write",
  body: CreateGeneration,
  result: GenerationObject,
  statuses: [202],
  streams: true,
  errors: [
    "CHAT_NOT_FOUND",
    "PROVIDER_NOT_FOUND",
    "PERSONA_NOT_FOUND",
    "LOREBOOK_NOT_FOUND",
    "CHAT_BUSY",
    "ASSEMBLY_CHANGED",
    "MODEL_UNKNOWN",
    "STRATEGY_UNKNOWN",
    "QUEUE_FULL",
    "IDEMPOTENCY_KEY_REUSED",
  ],
  handle: async (deps, call) => {
    const chatId = pathId(call, "chat");
    const answer = await answerOnce(deps, call, async (tx) => {
      const { strategies } = deps.plugins;
      const by = { caller: call.caller, requestId: call.request.id, strategies };
      return accepted(tx, call, await acceptGeneration(tx, by, chatId, call.body));
    });
    call.request.generationId = answer.generationId ?? null;
    return wantsStream(call) ? stream(deps, call, answer) : answer;
  },
});

/** The answer to an accepted generation: where to look, and when. */
export async function accepted(tx: Tx, call: Call, id: string): Promise<OnceAnswer<GenerationObject>> {
  const body = await readGenerationObject(tx, call.caller, id);
  const headers = { location: `/api/v2/generations/${encodeId("generation", id)}`, "retry-after": "1" };
  return { status: 202, body, headers, generationId: id };
}

export function wantsStream({ request }: Pick<Call, "request">): boolean {
  return (request.headers.accept ?? "").includes("text/event-stream");
}

/** A repeat of the request attaches to the same stream, from its beginning. */
export async function stream(
  deps: ApiDependencies,
  { caller, request, reply }: Call,
  { generationId, headers = {}, ...answer }: OnceAnswer<GenerationObject>,
): Promise<Answer<GenerationObject> | typeof STREAMED> {
  if (generationId === undefined) return { ...answer, headers };
  const { "retry-after": _later, ...shown } = headers;
  await streamEvents(deps, { request, reply, tenantId: caller.tenantId, generationId, after: 0, headers: shown });
  return STREAMED;
}
