import type { Diagnostic } from "../reasons.ts";
import type { Relevances } from "./relevance.ts";

/** Says that texts were ranked by their words alone, all of them or some; none were ranked = nothing to say. */
export function missingVectors(
  stage: Diagnostic["stage"],
  texts: number,
  { provider, missing }: Pick<Relevances, "provider" | "missing">,
): readonly Diagnostic[] {
  if (texts === 0 || (missing.question === 0 && missing.candidates === 0)) return [];
  return [{ code: "vectors_missing", stage, detail: { provider, ...missing } }];
}
