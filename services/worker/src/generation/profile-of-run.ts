import { encodeId } from "@shiftwork/contracts";
import { findTokenizerFile } from "@shiftwork/db";
import type { Profile } from "@shiftwork/pipeline";
import { profileOfTurn } from "@shiftwork/platform";
import { inTenant } from "./in-tenant.ts";
import type { Run, RunDependencies } from "./run-state.ts";

/** What counts for the run's model, as it was decided when the turn was accepted. */
export function profileOfRun({ claim }: Run, deps: RunDependencies): Promise<Profile> {
  const { tenantId, model, request } = claim;
  return profileOfTurn(model, request.counting, async (id) => {
    const read = () => inTenant(deps, tenantId, (tx) => findTokenizerFile(tx, tenantId, id));
    const own = await deps.tokenizers.find(tenantId, encodeId("tokenizer", id), read);
    return own && own.profile;
  });
}
