import type { ProviderRow } from "@shiftwork/db";
import { fieldProblem, notFound } from "../errors.ts";

/** A level of settings that may name a provider, a model, or both. */
export interface ModelChoice {
  readonly providerId?: string | null | undefined;
  readonly model?: string | undefined;
}

export interface ChosenModel {
  readonly provider: ProviderRow;
  readonly model: string;
}

/**
 * Which model answers: the nearest level that names one (request, chat, tenant), else the provider's first. A level's
 * model counts only for the provider that level means. Without any provider named, a single one, or the only one that
 * lists the model, is meant.
 */
export function chooseModel(levels: readonly ModelChoice[], providers: readonly ProviderRow[]): ChosenModel {
  const named = levels.find((level) => level.providerId);
  const nearestModel = levels.find((level) => level.model)?.model;
  const provider = named ? findProvider(named.providerId, providers) : onlyProvider(providers, nearestModel);
  const model = levels.find((level) => level.model && (!level.providerId || level.providerId === provider.id))?.model;
  const chosen = model ?? provider.models[0]?.model;
  if (chosen !== undefined) return { provider, model: chosen };
  const message = "No model is named, and the provider lists none.";
  throw fieldProblem(
    "MODEL_UNKNOWN",
    "/model",
    message,
    "Name a model in the request, the chat or the tenant's settings.",
  );
}

function findProvider(id: string | null | undefined, providers: readonly ProviderRow[]): ProviderRow {
  const provider = providers.find((candidate) => candidate.id === id);
  if (!provider) throw notFound("provider");
  return provider;
}

function onlyProvider(providers: readonly ProviderRow[], model: string | undefined): ProviderRow {
  const listing = providers.filter((provider) => provider.models.some((entry) => entry.model === model));
  const [only, second] = providers.length === 1 ? providers : listing;
  if (only && !second) return only;
  const message = providers.length === 0 ? "The tenant has no provider." : "It is not clear which provider is meant.";
  throw fieldProblem(
    "MODEL_UNKNOWN",
    "/providerId",
    message,
    "Name a provider in the request, the chat or the settings.",
  );
}
