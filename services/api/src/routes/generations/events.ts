import { withTenant } from "@shiftwork/db";
import { z } from "zod";
import { fieldProblem } from "../../errors.ts";
import { streamEvents } from "../../events/event-stream.ts";
import { endpoint, STREAMED, type Call } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { visibleGeneration } from "../visible.ts";

const LARGEST_SEQ = 2 ** 31 - 1;
const EventsQuery = z.strictObject({ after: z.coerce.number().int().min(0).max(LARGEST_SEQ).optional() });

export const streamGeneration = endpoint({
  method: "GET",
  path: "/api/v2/generations/:generationId/events",
  tag: "Generations",
  summary: "Stream a generation's events; resumable by Last-Event-ID or ?after=",
  scope: "generations:read",
  query: EventsQuery,
  result: null,
  statuses: [200],
  streams: true,
  errors: ["GENERATION_NOT_FOUND"],
  handle: async (deps, call) => {
    const { caller, request, reply } = call;
    const after = lastEventId(call) ?? call.query.after ?? 0;
    const generationId = pathId(call, "generation");
    await withTenant(deps.db, caller.tenantId, (tx) => visibleGeneration(tx, caller, generationId));
    await streamEvents(deps, { request, reply, tenantId: caller.tenantId, generationId, after });
    return STREAMED;
  },
});

/** The header wins: a reconnecting client repeats its first URL. */
function lastEventId({ request }: Pick<Call, "request">): number | null {
  const sent = request.headers["last-event-id"];
  if (sent === undefined || sent === "") return null;
  const seq = typeof sent === "string" && /^\d{1,10}$/.test(sent) ? Number(sent) : Number.NaN;
  if (seq <= LARGEST_SEQ) return seq;
  const text = "Last-Event-ID is the number of an event of this stream.";
  throw fieldProblem(
    "VALIDATION_FAILED",
    "/Last-Event-ID",
    text,
    "Send the id of the last event that arrived, or none.",
  );
}
