import type { CreateContextPreview } from "@shiftwork/contracts";
import { loadAssemblyInput, loadNewAssemblyInput, withTenant, type Db, type StoredInput, type Tx } from "@shiftwork/db";
import { AssemblyInputError, historyWindow, type AssemblySettings } from "@shiftwork/pipeline";
import { hostClock, type LoadedPlugins } from "@shiftwork/platform";
import type { Caller } from "../auth/caller.ts";
import { notFound } from "../errors.ts";
import { resolveTurn, type ResolvedTurn, type TurnPlace } from "../generations/resolve-turn.ts";
import { greetingOf } from "../routes/chats/greeting.ts";
import { uuidOf } from "../routes/ids.ts";
import { namedCharacter, namedPersona, visibleChat } from "../routes/visible.ts";
import { assemble, type Previews } from "./assemble.ts";

export interface PreviewedTurn extends Previews {
  readonly place: TurnPlace;
  readonly turn: ResolvedTurn;
}

/** Who asks, and with what. */
export interface PreviewHost {
  readonly db: Db;
  readonly plugins: LoadedPlugins;
  readonly caller: Caller;
}

/**
 * Assembles a turn exactly as its generation would, by the same loader and the same stages, and writes nothing. Aborts
 * with the signal.
 */
export async function previewTurn(
  host: PreviewHost,
  body: CreateContextPreview,
  signal: AbortSignal,
): Promise<PreviewedTurn> {
  const { db, plugins, caller } = host;
  const loaded = await withTenant(db, caller.tenantId, (tx) => load(tx, host, body));
  const { place, turn, whatIfs, stored } = loaded;
  const input = {
    ...stored,
    settings: turn.settings,
    interceptors: plugins.interceptors,
    strategies: plugins.strategies,
    clock: hostClock,
    // No model is called: a needed summary is a placeholder, and the preview says that it is not exact.
    summariser: { id: `${turn.provider.id}/${turn.model}`, contextLimit: null, summarise: null },
  };
  return { place, turn, ...(await assemble(input, whatIfs, signal)) };
}

interface Loaded {
  readonly place: TurnPlace;
  readonly turn: ResolvedTurn;
  readonly whatIfs: readonly AssemblySettings[];
  readonly stored: StoredInput;
}

async function load(tx: Tx, host: PreviewHost, body: CreateContextPreview): Promise<Loaded> {
  const { caller, plugins } = host;
  const place = await placeOf(tx, caller, body);
  const turn = await resolveTurn(tx, { caller, strategies: plugins.strategies, now: new Date() }, place, body);
  const whatIfs = body.shifts.map((change, index) => atPointer(`/shifts/${index}`, () => turn.settingsIf(change)));
  if (body.chatId === undefined) return { place, turn, whatIfs, stored: await newInput(tx, caller, place, turn) };
  const stored = await loadAssemblyInput(tx, caller.tenantId, {
    chatId: place.id,
    inputMessageId: turn.inputMessageId,
    draft: turn.draft,
    personaId: turn.request.personaId,
    lorebookIds: turn.request.lorebookIds,
    window: historyWindow([turn.settings, ...whatIfs], plugins.strategies),
  });
  if (!stored) throw notFound("chat");
  return { place, turn, whatIfs, stored };
}

/** A chat with a character that is not there yet has that character's id, so that its seed is the same each time. */
async function placeOf(tx: Tx, caller: Caller, { chatId, characterId }: CreateContextPreview): Promise<TurnPlace> {
  const chat = uuidOf("chat", chatId);
  if (chat !== null) return visibleChat(tx, caller, chat);
  const character = await namedCharacter(tx, caller, uuidOf("character", characterId));
  if (!character) throw notFound("character");
  return { id: character.id, revision: 0, settings: {}, characterId: character.id };
}

/** A chat that `POST /chats` would make: the character's first message opens it. */
async function newInput(
  tx: Tx,
  caller: Caller,
  place: TurnPlace,
  { draft, request }: ResolvedTurn,
): Promise<StoredInput> {
  const character = await namedCharacter(tx, caller, place.characterId);
  if (!character || !draft) throw notFound("character");
  const greeting = greetingOf(character.data, await namedPersona(tx, caller, request.personaId));
  return loadNewAssemblyInput(tx, caller.tenantId, {
    chatId: place.id,
    characterId: character.id,
    greeting,
    draft,
    personaId: request.personaId,
    lorebookIds: request.lorebookIds,
  });
}

/** A problem in a what-if points into it. */
function atPointer<T>(prefix: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof AssemblyInputError)) throw error;
    throw new AssemblyInputError(error.code, `${prefix}${error.pointer}`, error.message, error.fix);
  }
}
