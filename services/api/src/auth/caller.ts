import { grants, type Scope } from "@shiftwork/contracts";
import { HttpProblem } from "../errors.ts";

/** In whose name a request is made. */
export interface Caller {
  readonly tenantId: string;
  readonly apiKeyId: string;
  readonly scopes: readonly string[];
  /** Set = an end user of the product: only this owner's chats and generations exist. */
  readonly ownerId: string | null;
}

export function requireScope(caller: Caller, scope: Scope): void {
  if (grants(caller.scopes, scope)) return;
  throw new HttpProblem("INSUFFICIENT_SCOPE", `This key does not hold the scope ${scope}.`, {
    params: { requiredScope: scope },
  });
}
