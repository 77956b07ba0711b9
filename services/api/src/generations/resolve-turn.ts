import { resolveSettings, type Turn } from "@shiftwork/contracts";
import {
  findLastMessages,
  findLorebook,
  listProviders,
  readStandingSettings,
  type ChatRow,
  type GenerationRequest,
  type ProviderRow,
  type StandingSettings,
  type Tx,
} from "@shiftwork/db";
import {
  defaultSeed,
  profileFor,
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
import { chooseModel } from "./choose-model.ts";
import { requireSummarizer } from "./require-summarizer.ts";
import { waitsForReply } from "./waits-for-reply.ts";

/** Who sends a turn, and where it would run. */
export interface TurnHost {
  readonly caller: Caller;
  readonly strategies: ContextStrategyRegistry;
  readonly now: Date;
}

/** What a turn hangs on: a chat, or what a chat with a character would be before it is there. */
export type TurnPlace = Pick<ChatRow, "id" | "revision" | "settings" | "characterId">;

/** A turn with everything decided that a prompt depends on, for a generation and for its preview alike. */
export interface ResolvedTurn {
  readonly provider: ProviderRow;
  readonly model: string;
  readonly strategy: string;
  readonly seed: string;
  /** The new user message; `null` = the chat's last message is answered. */
  readonly draft: { readonly content: string; readonly name: string | null } | null;
  /** The stored message that is answered; `null` = the draft is. */
  readonly inputMessageId: string | null;
  readonly request: GenerationRequest;
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
  const input = await findInput(tx, caller, chat, turn);
  const request = await storedRequest(tx, caller, turn, now);
  const strategy = [turn, ...below].find((level) => level.contextStrategy !== undefined)?.contextStrategy ?? "truncate";
  const seed = turn.assembly?.seed ?? turn.seed ?? defaultSeed(chat.id, input.parentId);
  const row = { action: turn.action, model, strategy, seed };
  const layers = { request, row, ...standing, provider };
  const settingsIf = (change: TurnChange): AssemblySettings => {
    const settings = checkedSettings(changed(layers, change), strategies);
    requireSummarizer(settings, provider, providers);
    return settings;
  };
  const settings = settingsIf({});
  const { draft, inputMessageId } = input;
  return { provider, model, strategy, seed, draft, inputMessageId, request, settings, settingsIf };
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
  resolveBudget(settings, profileFor(settings.model));
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

interface TurnInput {
  readonly draft: ResolvedTurn["draft"];
  readonly inputMessageId: string | null;
  /** The message the input hangs on. */
  readonly parentId: string | null;
}

async function findInput(tx: Tx, caller: Caller, chat: TurnPlace, { message }: Turn): Promise<TurnInput> {
  const [last, beforeLast] = await findLastMessages(tx, caller.tenantId, chat.id, 2);
  if (message !== undefined) {
    const draft =
      typeof message === "string"
        ? { content: message, name: null }
        : { content: message.content, name: message.name ?? null };
    return { draft, inputMessageId: null, parentId: last?.id ?? null };
  }
  if (!last || !waitsForReply(last)) {
    const text = "Without a message, the chat's last message must be the user's or a tool's.";
    throw fieldProblem("VALIDATION_FAILED", "/message", text, "Send a message.", "required");
  }
  return { draft: null, inputMessageId: last.id, parentId: beforeLast?.id ?? null };
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
