import type { SeenEvent } from "./read-events.ts";
import type { ScenarioName } from "./scenarios.ts";

/** One accepted generation, as its client saw it: what the rows are held against afterwards. */
export interface Followed {
  /** Public id. */
  readonly id: string;
  readonly tenant: number;
  readonly scenario: ScenarioName;
  readonly shortDeadline: boolean;
  /** The message sent with it; `null` = it runs an earlier one's again. */
  readonly message: string | null;
  /** Ids that repeats of the same request were answered with. */
  readonly repeats: string[];
  /** `accepted`: 200 or 202; `refused`: 409, it had ended. */
  cancel: "none" | "accepted" | "refused";
  /** Someone else may have cancelled it: a turn that supersedes it. */
  superseded: boolean;
  /** Every terminal status that any answer or event named. */
  readonly ends: string[];
  /** All events from the first one; `null` = it was not streamed. */
  events: readonly SeenEvent[] | null;
  /** A second reading behind number `after`. */
  reread: { readonly after: number; readonly events: readonly SeenEvent[] } | null;
}

export function follow(facts: Pick<Followed, "id" | "tenant" | "scenario" | "shortDeadline" | "message">): Followed {
  return { ...facts, repeats: [], cancel: "none", superseded: false, ends: [], events: null, reread: null };
}
