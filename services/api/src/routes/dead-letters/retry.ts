import { acceptRetry } from "../../generations/accept-retry.ts";
import { endpoint } from "../endpoint.ts";
import { ANOTHER_RUN } from "../generations/another-run.ts";
import { answerAccepted } from "../generations/answer-accepted.ts";
import { pathId } from "../ids.ts";
import { readDeadLetterObject } from "./dead-letter-object.ts";

export const retryDeadLetter = endpoint({
  ...ANOTHER_RUN,
  path: "/api/v2/dead-letters/:generationId/retry",
  tag: "Operations",
  summary: "Run a dead letter again, on today's data; answers with the new generation",
  handle: (deps, call) => {
    const id = pathId(call, "generation");
    return answerAccepted(deps, call, async (tx, by) => {
      await readDeadLetterObject(tx, call.caller, id);
      return acceptRetry(tx, by, id);
    });
  },
});
