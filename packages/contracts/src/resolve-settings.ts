import {
  DEFAULT_LOREBOOK_SETTINGS,
  DEFAULT_MEMORY_SETTINGS,
  modelFacts,
  type Action,
  type AssemblySettings,
  type BudgetRequest,
  type ModelFacts,
  type SamplingParameters,
  type ToolDefinition,
  type WireSettings,
  type PostProcessing,
} from "@shiftwork/pipeline";

/** The layers an assembly's settings come from, nearest first: request, chat, character, tenant, product defaults. */
export interface SettingsLayers {
  /** The stored part of the request. */
  readonly request: {
    readonly parameters: SamplingParameters;
    readonly tools: readonly ToolDefinition[];
    readonly budget: BudgetRequest;
    readonly strategyOptions: { readonly [key: string]: unknown };
    readonly now: string;
  };
  /** What was decided when the request was accepted and stands on the generation's row. */
  readonly row: {
    readonly action: string;
    readonly model: string;
    readonly strategy: string;
    readonly seed: string;
  };
  readonly chat: StandingLevel;
  readonly character: StandingLevel;
  readonly tenant: StandingLevel & {
    readonly mainPrompt?: string | undefined;
    readonly postHistoryInstructions?: string | undefined;
  };
  /** `kind` decides the shape of the request; absent = chat completions. */
  readonly provider: { readonly kind?: string; readonly models: readonly ListedModel[] };
}

/** A model as its provider's list has it. */
export interface ListedModel extends ModelFacts {
  readonly model: string;
  /** What a strict endpoint needs done to the messages; absent = nothing. */
  readonly postProcessing?: PostProcessing;
}

/** What a chat, a character or a tenant chose for itself, as far as an assembly's settings come from it. */
export interface StandingLevel {
  /** Token bounds. */
  readonly contextLimit?: number | undefined;
  readonly reservedForReply?: number | undefined;
  /** Joined option by option with those of the other levels, the request's included; the nearest wins. */
  readonly strategyOptions?: { readonly [option: string]: unknown } | undefined;
}

/**
 * The settings one assembly runs with. The only place where the layers meet, called by the worker, the preview and the
 * check at accept, so that all three see the same. Numbers are checked by the pipeline, not here.
 */
export function resolveSettings(layers: SettingsLayers): AssemblySettings {
  const { request, row, chat, character, tenant } = layers;
  const facts = factsOf(layers);
  return {
    action: row.action as Action,
    model: row.model,
    modelFacts: facts,
    budget: budgetOf(layers, facts),
    parameters: request.parameters,
    tools: request.tools,
    wire: wireOfKind(layers.provider.kind ?? ""),
    postProcessing: layers.provider.models.find(({ model }) => model === row.model)?.postProcessing,
    contextStrategy: row.strategy,
    strategyOptions: {
      ...tenant.strategyOptions,
      ...character.strategyOptions,
      ...chat.strategyOptions,
      ...request.strategyOptions,
    },
    mainPrompt: tenant.mainPrompt ?? null,
    postHistoryInstructions: tenant.postHistoryInstructions ?? null,
    lorebook: DEFAULT_LOREBOOK_SETTINGS,
    memory: DEFAULT_MEMORY_SETTINGS,
    seed: row.seed,
    now: request.now,
  };
}

/** The shape of request a kind of provider takes: chat completions, but for those named here. */
export function wireOfKind(kind: string): WireSettings {
  return kind === "openai-compatible-text" ? { shape: "text", format: "chatml" } : { shape: "chat" };
}

/** What the provider's own model list says, field by field, else the built-in table. */
function factsOf({ provider, row }: SettingsLayers): ModelFacts {
  const listed = provider.models.find((entry) => entry.model === row.model);
  const known = modelFacts(row.model);
  return {
    contextLimit: listed?.contextLimit ?? known.contextLimit,
    maxOutputTokens: listed?.maxOutputTokens ?? known.maxOutputTokens,
  };
}

function budgetOf({ request, ...layers }: SettingsLayers, facts: ModelFacts): BudgetRequest {
  const levels = [layers.chat, layers.character, layers.tenant];
  const chosenLimit = levels.find((level) => level.contextLimit !== undefined)?.contextLimit;
  // A standing choice is a wish for every model: it narrows a window and never widens one. A request's own is checked.
  const standingLimit =
    chosenLimit === undefined ? undefined : Math.min(chosenLimit, facts.contextLimit ?? chosenLimit);
  // `parameters.maxTokens` stands between the request's reserve and the standing ones.
  const chosenReserve = levels.find((level) => level.reservedForReply !== undefined)?.reservedForReply;
  const standingReserve = request.parameters.maxTokens === undefined ? chosenReserve : undefined;
  return {
    contextLimit: request.budget.contextLimit ?? standingLimit,
    reservedForReply: request.budget.reservedForReply ?? standingReserve,
  };
}
