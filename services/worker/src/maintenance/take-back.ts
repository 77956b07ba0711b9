import { withTenant, type Db, type HeldRun } from "@shiftwork/db";
import type { FrameWriter } from "@shiftwork/platform";
import { eachInTurn } from "./each-in-turn.ts";
import { takeOver } from "./take-over.ts";

/**
 * Takes back what this process has given up. Apart from the renewal of its lease: one run that cannot be put right must
 * not cost all others their worker.
 */
export async function takeBack(db: Db, givenUp: readonly HeldRun[], frames: FrameWriter | null): Promise<void> {
  await eachInTurn(givenUp, (run) => withTenant(db, run.tenantId, (tx) => takeOver(tx, run, frames)));
}
