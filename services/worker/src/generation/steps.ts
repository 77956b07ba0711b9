import type { Claim } from "@shiftwork/db";
import { FIT, PREPARE } from "./assemble.ts";
import { auditPrompt } from "./audit-prompt.ts";
import { inTenant } from "./in-tenant.ts";
import { loadReplay } from "./load-replay.ts";
import { loadRun } from "./load.ts";
import { profileOfRun } from "./profile-of-run.ts";
import { recall } from "./recall.ts";
import { sendRequest } from "./send-request.ts";
import type { Step } from "./step.ts";

const LOAD: Step = {
  name: "load",
  deadlineMs: 30_000,
  async run(run, deps) {
    // First: a tokenizer that is compiled takes its time, and a transaction would hold a connection for it.
    const profile = await profileOfRun(run, deps);
    await inTenant(deps, run.claim.tenantId, (tx) => loadRun(tx, run, deps, profile));
  },
};
const LOAD_REPLAY: Step = {
  name: "load",
  deadlineMs: 30_000,
  run: (run, deps) => inTenant(deps, run.claim.tenantId, (tx) => loadReplay(tx, run)),
};
const RECALL: Step = { name: "recall", deadlineMs: 30_000, run: recall };
const AUDIT: Step = { name: "audit", deadlineMs: 30_000, run: auditPrompt };
const STREAM: Step = { name: "stream", deadlineMs: null, run: sendRequest };

/**
 * What a run does, in this order. The pipeline's stages stand here as they stand there: there is one list of them. An
 * earlier run's request goes out as it was: nothing is assembled.
 */
export function stepsOf({ replay }: Claim): readonly Step[] {
  return replay === null ? [LOAD, RECALL, ...PREPARE, ...FIT, AUDIT, STREAM] : [LOAD_REPLAY, AUDIT, STREAM];
}
