import { chooseSummarizer, type CreateContextPreview } from "@shiftwork/contracts";
import {
  listProviders,
  loadAssemblyInput,
  loadNewAssemblyInput,
  readStandingSettings,
  withTenant,
  type Db,
  type StoredInput,
  type Tx,
} from "@shiftwork/db";
import {
  AssemblyInputError,
  historyWindow,
  type AssemblyReport,
  type AssemblySettings,
  type Profile,
} from "@shiftwork/pipeline";
import { hostClock, profileOfTurn, type LoadedPlugins, type Tokenizers } from "@shiftwork/platform";
import {
  createSummariser,
  findRecallChoice,
  providerTarget,
  summaryCost,
  type CallingSummariser,
  type RecallChoice,
} from "@shiftwork/providers";
import type { Caller } from "../auth/caller.ts";
import { fieldProblem, notFound } from "../errors.ts";
import { resolveTurn, type ResolvedTurn, type TurnPlace } from "../generations/resolve-turn.ts";
import { greetingOf } from "../routes/chats/greeting.ts";
import { uuidOf } from "../routes/ids.ts";
import { namedCharacter, namedPersona, visibleChat } from "../routes/visible.ts";
import { ownTokenizer } from "../tokenizers/own-tokenizer.ts";
import { assemble, type Previews } from "./assemble.ts";
import { recallForPreview, type PreviewVectors } from "./recall-for-preview.ts";

/** As a worker's defaults, within what a preview may take. */
const SUMMARY_CALL = { connectTimeoutMs: 10_000, idleTimeoutMs: 30_000 };
const SUMMARY_TIMEOUT_MS = 30_000;

export interface PreviewedTurn extends Previews {
  readonly place: TurnPlace;
  readonly turn: ResolvedTurn;
}

/** Who asks, and with what. */
export interface PreviewHost {
  readonly db: Db;
  readonly plugins: LoadedPlugins;
  /** Opens the secrets of providers that write summaries; `null` = previews call no model. */
  readonly masterKey: Uint8Array | null;
  readonly vectors: PreviewVectors;
  readonly tokenizers: Tokenizers;
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
  const { place, turn, whatIfs, stored, helper, choice, profile } = loaded;
  const variants = [turn.settings, ...whatIfs];
  const input = {
    ...stored,
    recall: await recallForPreview(host, choice, stored.conversation, variants, signal),
    settings: turn.settings,
    profile,
    interceptors: plugins.interceptors,
    strategies: plugins.strategies,
    clock: hostClock,
    // Without a model a needed summary is a placeholder, and the preview says that it is not exact.
    summariser: helper?.summariser ?? {
      id: `${turn.provider.id}/${turn.model}`,
      contextLimit: null,
      summarise: null,
    },
  };
  const previews = await assemble(input, whatIfs, signal);
  return {
    place,
    turn,
    report: withoutPromise(withCost(previews.report, helper), helper),
    whatIfs: previews.whatIfs.map((report) => withoutPromise(report, helper)),
  };
}

/** The generation has its summary written anew: a model's words cannot be promised, so there is no hash to insist on. */
function withoutPromise(report: AssemblyReport, helper: CallingSummariser | null): AssemblyReport {
  const written = report.summary !== null && (helper?.calls.length ?? 0) > 0;
  return written ? { ...report, assemblyHash: null } : report;
}

/** What-ifs that sum up the same text share its summary. */
function askingOnce(helper: CallingSummariser): CallingSummariser {
  const { summarise } = helper.summariser;
  if (summarise === null) return helper;
  const asked = new Map<string, ReturnType<typeof summarise>>();
  const once: typeof summarise = (prompt, options) => {
    const answer = asked.get(prompt) ?? summarise(prompt, options);
    asked.set(prompt, answer);
    return answer;
  };
  return { ...helper, summariser: { ...helper.summariser, summarise: once } };
}

/** What the summaries of a preview cost is listed as a generation's is. */
function withCost(report: AssemblyReport, helper: CallingSummariser | null): AssemblyReport {
  const cost = helper && summaryCost(report.summary, helper);
  return cost ? { ...report, diagnostics: [...report.diagnostics, cost] } : report;
}

interface Loaded {
  readonly place: TurnPlace;
  readonly turn: ResolvedTurn;
  readonly whatIfs: readonly AssemblySettings[];
  readonly stored: StoredInput;
  /** Writes summaries with a model; `null` = none is called. */
  readonly helper: CallingSummariser | null;
  /** Whose vectors the chat recalls by; `null` = the built-in ones. */
  readonly choice: RecallChoice | null;
  /** What counts the turn, as its generation would. */
  readonly profile: Profile;
}

async function load(tx: Tx, host: PreviewHost, body: CreateContextPreview): Promise<Loaded> {
  const { caller, plugins } = host;
  const place = await placeOf(tx, caller, body);
  const turn = await resolveTurn(tx, { caller, strategies: plugins.strategies, now: new Date() }, place, body);
  const whatIfs = body.shifts.map((change, index) => atPointer(`/shifts/${index}`, () => turn.settingsIf(change)));
  const helper = body.modelCalls ? await summariserFor(tx, host, [turn.settings, ...whatIfs], turn) : null;
  const choice = await findRecallChoice(tx, caller.tenantId, await readStandingSettings(tx, caller.tenantId, place));
  const profile = await profileOfTurn(turn.model, turn.request.counting, async (id) => {
    const own = await ownTokenizer(host.tokenizers, caller.tenantId, id, (work) => work(tx));
    return own && own.profile;
  });
  const chosen = { place, turn, whatIfs, helper, choice, profile };
  if (body.chatId === undefined) return { ...chosen, stored: await newInput(tx, caller, place, turn) };
  const stored = await loadAssemblyInput(tx, caller.tenantId, {
    chatId: place.id,
    inputMessageId: turn.inputMessageId,
    draft: turn.draft,
    personaId: turn.request.personaId,
    lorebookIds: turn.request.lorebookIds,
    window: historyWindow([turn.settings, ...whatIfs], plugins.strategies, profile),
  });
  if (!stored) throw notFound("chat");
  return { ...chosen, stored };
}

/** The model a generation of this turn would have its summary written by; `null` = nothing asks for one. */
async function summariserFor(
  tx: Tx,
  { caller, masterKey }: PreviewHost,
  variants: readonly AssemblySettings[],
  turn: ResolvedTurn,
): Promise<CallingSummariser | null> {
  if (masterKey === null) {
    const text = "This API was started without MASTER_KEY and cannot call models.";
    throw fieldProblem("VALIDATION_FAILED", "/modelCalls", text, "Leave it out for a preview with placeholders.");
  }
  const settings = variants.find(({ contextStrategy }) => contextStrategy === "compress");
  const chosen = settings && chooseSummarizer(settings, turn.provider, await listProviders(tx, caller.tenantId));
  if (!chosen) return null;
  const helper = createSummariser({
    chosen,
    target: () => providerTarget(caller.tenantId, chosen.provider, masterKey),
    stored: null,
    timeouts: SUMMARY_CALL,
    timeoutMs: SUMMARY_TIMEOUT_MS,
  });
  return askingOnce(helper);
}

/** A chat with a character that is not there yet has that character's id, so that its seed is the same each time. */
async function placeOf(tx: Tx, caller: Caller, { chatId, characterId }: CreateContextPreview): Promise<TurnPlace> {
  const chat = uuidOf("chat", chatId);
  if (chat !== null) return visibleChat(tx, caller, chat);
  const character = await namedCharacter(tx, caller, uuidOf("character", characterId));
  if (!character) throw notFound("character");
  return { id: character.id, revision: 0, activeBranch: 0, settings: {}, characterId: character.id };
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
