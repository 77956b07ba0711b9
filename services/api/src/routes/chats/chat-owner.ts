import type { Caller } from "../../auth/caller.ts";
import { fieldProblem } from "../../errors.ts";

/** Whom a new chat belongs to: the caller's owner, else the one the request names. They must not differ. */
export function ownerOfNewChat(caller: Caller, named: string | undefined): string | null {
  if (caller.ownerId === null) return named ?? null;
  if (named === undefined || named === caller.ownerId) return caller.ownerId;
  const message = "The request is made in the name of another owner.";
  throw fieldProblem("VALIDATION_FAILED", "/ownerId", message, "Leave ownerId out.");
}
