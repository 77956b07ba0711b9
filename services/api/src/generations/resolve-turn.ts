import { resolveSettings, type Turn } from "@shiftwork/contracts";
import {
  branchPath,
  findLorebook,
  listProviders,
  readStandingSettings,
  type ChatRow,
  type Counting,
  type GenerationRequest,
  type ProviderRow,
  type StandingSettings,
  type Tx,
} from "@shiftwork/db";
import {
  defaultSeed,
  resolveBudget,
  resolveStrategy,
  type AssemblySettings,
  type BudgetRequest,
  type ContextStrategyRegistry,
} from "@shiftwork/pipeline";
import type { Caller } from "../auth/caller.ts";
import { fieldProblem, HttpProblem, notFound } from "../errors.ts";
import { uuidOf } from "../routes/ids.ts";
import { namedPersona } from "../routes/visible.ts";
import { chooseCounting, isApproximate } from "../tokenizers/choose-counting.ts";
import { chooseModel } from "./choose-model.ts";
import { findInput, type TurnInput } from "./find-input.ts";
import { requireSummarizer } from "./require-summarizer.ts";

/** Who sends a turn, and where it would run. */
export interface TurnHost {
  readonly caller: Caller;
  readonly strategies: ContextStrategyRegistry;
  readonly now: Date;
}

/** What a turn hangs on: a chat, or what a chat with a character would be before it is there. */
export type TurnPlace = Pick<ChatRow, "id" | "revision" | "activeBranch" | "settings" | "characterId">;

/** A turn with everything decided that a prompt depends on, for a generation and for its preview alike. */
export interface ResolvedTurn extends Omit<TurnInput, "parentId"> {
  readonly provider: ProviderRow;
  readonly model: string;
  readonly strategy: string;
  readonly seed: string;
  readonly request: GenerationRequest & { readonly counting: Counting };
  readonly settings: AssemblySettings;
  /** The same turn under another strategy or in another window; throws when that cannot work. */
  readonly settingsIf: (change: TurnChange) => AssemblySettings;
}

/** What a what-if changes of a turn; the rest stays. */
export interface TurnChange {
  readonly contextStrategy?: string | undefined;
  readonly budget?: BudgetRequest | undefined;
}

/**
 * Decides model, strategy, seed and clock of a turn and checks what can be checked without assembling it. Throws the
 * problem that names the field.
 */
export async function resolveTurn(tx: Tx, host: TurnHost, chat: TurnPlace, turn: Turn): Promise<ResolvedTurn> {
  const { caller, strategies, now } = host;
  requireSameChat(turn, chat);
  const standing = await readStandingSettings(tx, caller.tenantId, chat);
  const below = [standing.chat, standing.character, standing.tenant];
  const levels = [{ ...turn, providerId: uuidOf("provider", turn.providerId) }, ...below];
  const providers = await listProviders(tx, caller.tenantId);
  const { provider, model } = chooseModel(levels, providers);
  const path = await branchPath(tx, caller.tenantId, chat.id, chat.activeBranch);
  const { parentId, ...input } = await findInput(tx, path, turn);
  const promised = turn.assembly?.calibration;
  const counting = await chooseCounting(tx, caller.tenantId, { providerId: provider.id, model, promised });
  const request = { ...(await storedRequest(tx, caller, turn, now)), counting };
  const strategy = [turn, ...below].find((level) => level.contextStrategy !== undefined)?.contextStrategy ?? "truncate";
  const seed = turn.assembly?.seed ?? turn.seed ?? defaultSeed(chat.id, parentId);
  const row = { action: turn.action, model, strategy, seed };
  const layers = { request, row, ...standing, provider };
  const settingsIf = (change: TurnChange): AssemblySettings => {
    const settings = checkedSettings(changed(layers, change), strategies);
    requireSummarizer(settings, provider, providers);
    return settings;
  };
  const settings = settingsIf({});
  return { ...input, provider, model, strategy, seed, request, settings, settingsIf };
}

/** Where a turn's settings stand; the row's part is decided already. */
export interface TurnLayers extends StandingSettings {
  readonly request: GenerationRequest;
  readonly row: { readonly action: string; readonly model: string; readonly strategy: string; readonly seed: string };
  readonly provider: ProviderRow;
}

/** The assembly's settings; throws when its strategy or budget cannot work. */
export function checkedSettings(layers: TurnLayers, strategies: ContextStrategyRegistry): AssemblySettings {
  const settings = resolveSettings(layers);
  resolveStrategy(settings.contextStrategy, settings.strategyOptions, strategies);
  resolveBudget(settings, { approximate: isApproximate(settings.model, layers.request.counting) });
  return settings;
}

function changed(layers: TurnLayers, { contextStrategy, budget }: TurnChange): TurnLayers {
  const { request, row } = layers;
  return {
    ...layers,
    request: { ...request, budget: { ...request.budget, ...budget } },
    row: { ...row, strategy: contextStrategy ?? row.strategy },
  };
}

/** A promise made on another state of the chat cannot be kept. */
function requireSameChat({ assembly, seed }: Turn, chat: TurnPlace): void {
  if (!assembly) return;
  if (seed !== undefined && seed !== assembly.seed) {
    throw fieldProblem("VALIDATION_FAILED", "/seed", "It differs from assembly.seed.", "Leave seed out.");
  }
  if (assembly.chatRevision === chat.revision) return;
  throw new HttpProblem("ASSEMBLY_CHANGED", "The chat has changed since the preview was made; preview it again.", {
    params: { chatRevision: chat.revision, previewed: assembly.chatRevision },
  });
}

async function storedRequest(tx: Tx, caller: Caller, turn: Turn, now: Date): Promise<GenerationRequest> {
  const persona = await namedPersona(tx, caller, uuidOf("persona", turn.personaId));
  const lorebookIds = turn.lorebookIds?.map((id) => uuidOf("lorebook", id)) ?? null;
  for (const id of lorebookIds ?? []) {
    if (!(await findLorebook(tx, caller.tenantId, id))) throw notFound("lorebook");
  }
  return {
    parameters: turn.parameters,
    tools: turn.tools,
    budget: turn.budget,
    strategyOptions: turn.strategyOptions,
    personaId: persona?.id ?? null,
    lorebookIds,
    now: turn.assembly?.now ?? now.toISOString(),
    expectedHash: turn.assembly?.hash ?? null,
  };
}
