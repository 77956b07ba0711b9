import { resolveSettings, type Turn } from "@shiftwork/contracts";
import {
  findLastMessages,
  findLorebook,
  listProviders,
  readTenantSettings,
  type ChatRow,
  type GenerationRequest,
  type MessageRow,
  type ProviderRow,
  type TenantSettings,
  type Tx,
} from "@shiftwork/db";
import { defaultSeed, profileFor, resolveBudget, resolveStrategy, type AssemblySettings } from "@shiftwork/pipeline";
import type { Caller } from "../auth/caller.ts";
import { fieldProblem, HttpProblem, notFound } from "../errors.ts";
import { uuidOf } from "../routes/ids.ts";
import { namedPersona } from "../routes/visible.ts";
import { chooseModel } from "./choose-model.ts";
import { requireSummarizer } from "./require-summarizer.ts";

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
}

/**
 * Decides model, strategy, seed and clock of a turn and checks what can be checked without assembling it. Throws the
 * problem that names the field.
 */
export async function resolveTurn(tx: Tx, caller: Caller, chat: ChatRow, turn: Turn, now: Date): Promise<ResolvedTurn> {
  requireSameChat(turn, chat);
  const tenant = await readTenantSettings(tx, caller.tenantId);
  const levels = [{ ...turn, providerId: uuidOf("provider", turn.providerId) }, chat.settings, tenant];
  const providers = await listProviders(tx, caller.tenantId);
  const { provider, model } = chooseModel(levels, providers);
  const input = await findInput(tx, caller, chat, turn);
  const request = await storedRequest(tx, caller, turn, now);
  const strategy = turn.contextStrategy ?? chat.settings.contextStrategy ?? tenant.contextStrategy ?? "truncate";
  const seed = turn.assembly?.seed ?? turn.seed ?? defaultSeed(chat.id, input.parentId);
  const row = { action: turn.action, model, strategy, seed };
  const settings = checkedSettings({ request, row, chat, tenant, provider });
  requireSummarizer(settings, provider, providers);
  const { draft, inputMessageId } = input;
  return { provider, model, strategy, seed, draft, inputMessageId, request, settings };
}

/** Where a turn's settings stand; the row's part is decided already. */
export interface TurnLayers {
  readonly request: GenerationRequest;
  readonly row: { readonly action: string; readonly model: string; readonly strategy: string; readonly seed: string };
  readonly chat: Pick<ChatRow, "settings">;
  readonly tenant: TenantSettings;
  readonly provider: ProviderRow;
}

/** The assembly's settings; throws when its strategy or budget cannot work. */
export function checkedSettings({ chat, ...layers }: TurnLayers): AssemblySettings {
  const settings = resolveSettings({ ...layers, chat: chat.settings });
  resolveStrategy(settings.contextStrategy, settings.strategyOptions);
  resolveBudget(settings, profileFor(settings.model));
  return settings;
}

/** A promise made on another state of the chat cannot be kept. */
function requireSameChat({ assembly, seed }: Turn, chat: ChatRow): void {
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

async function findInput(tx: Tx, caller: Caller, chat: ChatRow, { message }: Turn): Promise<TurnInput> {
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

function waitsForReply({ role, hidden }: MessageRow): boolean {
  return !hidden && (role === "user" || role === "tool");
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
