import { ContextPreview, CreateContextPreview } from "@shiftwork/contracts";
import { requireScope } from "../../auth/caller.ts";
import { HttpProblem } from "../../errors.ts";
import { endpoint, STREAMED } from "../endpoint.ts";

/** A preview holds a request open; a generation has its own deadline. */
const PREVIEW_TIMEOUT_MS = 60_000;

export const createContextPreview = endpoint({
  method: "POST",
  path: "/api/v2/context-preview",
  tag: "Context",
  summary: "Assemble a turn without sending it; writes nothing",
  scope: "context:preview",
  body: CreateContextPreview,
  result: ContextPreview,
  statuses: [200],
  errors: [
    "CHAT_NOT_FOUND",
    "CHARACTER_NOT_FOUND",
    "PROVIDER_NOT_FOUND",
    "PERSONA_NOT_FOUND",
    "LOREBOOK_NOT_FOUND",
    "MESSAGE_NOT_FOUND",
    "ASSEMBLY_CHANGED",
    "MODEL_UNKNOWN",
    "STRATEGY_UNKNOWN",
    "DEADLINE_EXCEEDED",
    "RATE_LIMITED",
  ],
  handle: async (deps, call) => {
    const { include } = call.body;
    if (include.length > 0) requireScope(call.caller, "audits:read_content");
    // Calling a model costs money, as a generation does.
    if (call.body.modelCalls) requireScope(call.caller, "generations:write");
    const gone = new AbortController();
    call.reply.raw.once("close", () => gone.abort());
    const late = AbortSignal.timeout(PREVIEW_TIMEOUT_MS);
    const signal = AbortSignal.any([gone.signal, late]);
    try {
      const json = await deps.previewer.preview({ caller: call.caller, body: call.body }, signal);
      call.reply.header("cache-control", "no-store").type("application/json; charset=utf-8").send(json);
      return STREAMED;
    } catch (error) {
      // Nobody reads an answer any more, and that is no failure.
      if (gone.signal.aborted) return STREAMED;
      if (!late.aborted) throw error;
      throw new HttpProblem("DEADLINE_EXCEEDED", `The preview took longer than ${PREVIEW_TIMEOUT_MS / 1000} s.`);
    }
  },
});
