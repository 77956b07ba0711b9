import { encodeId, type DeadLetterObject } from "@shiftwork/contracts";
import { findDeadLetters, type Tx } from "@shiftwork/db";
import type { Caller } from "../../auth/caller.ts";
import { notFound } from "../../errors.ts";
import { readGenerationObject } from "../../generations/generation-object.ts";

/** The dead letter, open or not; a generation that is none is missing here. */
export async function readDeadLetterObject(tx: Tx, caller: Caller, id: string): Promise<DeadLetterObject> {
  const generation = await readGenerationObject(tx, caller, id);
  const facts = (await findDeadLetters(tx, caller.tenantId, [id])).get(id);
  if (!facts) throw notFound("generation");
  return { object: "dead_letter", id: encodeId("generation", id), ...facts, generation };
}
