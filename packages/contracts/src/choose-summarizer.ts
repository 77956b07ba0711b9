import { modelFacts, type AssemblySettings, type ModelFacts } from "@shiftwork/pipeline";
import { decodeId } from "./ids.ts";

/** A provider's row as far as the choice looks at it; `id` is the uuid. */
interface SummarizerProvider {
  readonly id: string;
  readonly models: readonly ({ readonly model: string } & ModelFacts)[];
}

/** The model that writes the summaries of `compress`. */
export interface ChosenSummarizer<P> {
  /** Names provider and model: part of a stored summary's key. */
  readonly id: string;
  readonly provider: P;
  readonly model: string;
  /** Its window in tokens; `null` = not known, the generation's stands in. */
  readonly contextLimit: number | null;
}

/**
 * Who writes the summaries: `strategyOptions.summarizer {providerId, model}`, else the generation's own provider and
 * model; a provider named without a model stands for its first. `null` = the provider is not there, or lists no model.
 */
export function chooseSummarizer<P extends SummarizerProvider>(
  settings: Pick<AssemblySettings, "strategyOptions" | "model">,
  own: P,
  providers: readonly P[],
): ChosenSummarizer<P> | null {
  const asked = askedFor(settings.strategyOptions);
  const providerId = asked.providerId === null ? own.id : decodeId("provider", asked.providerId);
  const provider = [own, ...providers].find(({ id }) => id === providerId);
  if (provider === undefined) return null;
  const model = asked.model ?? (asked.providerId === null ? settings.model : provider.models[0]?.model);
  if (model === undefined) return null;
  const listed = provider.models.find((entry) => entry.model === model);
  const contextLimit = listed?.contextLimit ?? modelFacts(model).contextLimit;
  return { id: `${provider.id}/${model}`, provider, model, contextLimit };
}

function askedFor(options: AssemblySettings["strategyOptions"]): { providerId: string | null; model: string | null } {
  const asked = options["summarizer"];
  if (typeof asked !== "object" || asked === null) return { providerId: null, model: null };
  const { providerId, model } = asked as { readonly providerId?: unknown; readonly model?: unknown };
  return { providerId: textOf(providerId), model: textOf(model) };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
