import { chooseSummarizer } from "@shiftwork/contracts";
import type { ProviderRow } from "@shiftwork/db";
import type { AssemblySettings } from "@shiftwork/pipeline";
import { fieldProblem } from "../errors.ts";

/** Throws when `compress` is to have its summaries written by a provider that is not there or lists no model. */
export function requireSummarizer(
  settings: AssemblySettings,
  own: ProviderRow,
  providers: readonly ProviderRow[],
): void {
  if (settings.contextStrategy !== "compress" || chooseSummarizer(settings, own, providers) !== null) return;
  throw fieldProblem(
    "VALIDATION_FAILED",
    "/strategyOptions/summarizer",
    "The summarizer's provider is not one of the tenant's, or no model is named and it lists none.",
    "Name a provider of the tenant and one of its models, or leave it out for the generation's own.",
  );
}
