import { ChatObject, CreateChat, encodeId, type ChatSettingsObject } from "@shiftwork/contracts";
import { appendMessages, insertChat, readStandingSettings, type ChatSettings, type Tx } from "@shiftwork/db";
import { AssemblyInputError, type ContextStrategyRegistry } from "@shiftwork/pipeline";
import { uuidv7 } from "uuidv7";
import { answerOnce } from "../../answer-once.ts";
import type { Caller } from "../../auth/caller.ts";
import { fieldProblem } from "../../errors.ts";
import { changeSettings } from "../../settings/change-settings.ts";
import { created, endpoint } from "../endpoint.ts";
import { uuidOf } from "../ids.ts";
import { namedCharacter, namedPersona, visibleChat } from "../visible.ts";
import { chatObject } from "./chat-object.ts";
import { ownerOfNewChat } from "./chat-owner.ts";
import { greetingOf } from "./greeting.ts";

export const createChat = endpoint({
  method: "POST",
  path: "/api/v2/chats",
  tag: "Chats",
  summary: "Create a chat; a character's first message opens it",
  scope: "chats:write",
  body: CreateChat,
  result: ChatObject,
  statuses: [201],
  errors: [
    "CHARACTER_NOT_FOUND",
    "PERSONA_NOT_FOUND",
    "PROVIDER_NOT_FOUND",
    "STRATEGY_UNKNOWN",
    "IDEMPOTENCY_KEY_REUSED",
  ],
  handle: (deps, call) =>
    answerOnce(deps, call, async (tx) => {
      const id = uuidv7();
      await storeChat(tx, { caller: call.caller, strategies: deps.plugins.strategies }, id, call.body);
      return created(`/api/v2/chats/${encodeId("chat", id)}`, chatObject(await visibleChat(tx, call.caller, id)));
    }),
});

interface NewChatPlace {
  readonly caller: Caller;
  readonly strategies: ContextStrategyRegistry;
}

async function storeChat(tx: Tx, place: NewChatPlace, id: string, body: CreateChat): Promise<void> {
  const { caller } = place;
  const character = await namedCharacter(tx, caller, uuidOf("character", body.characterId));
  const persona = await namedPersona(tx, caller, uuidOf("persona", body.personaId));
  await insertChat(tx, caller.tenantId, {
    id,
    title: body.title,
    characterId: character?.id ?? null,
    personaId: persona?.id ?? null,
    ownerId: ownerOfNewChat(caller, body.ownerId),
    settings: await checkedSettings(tx, place, character?.id ?? null, body.settings),
    metadata: body.metadata,
  });
  const greeting = character && body.greeting ? greetingOf(character.data, persona) : null;
  if (greeting) await appendMessages(tx, caller.tenantId, id, [greeting]);
}

/** The settings of a new chat; a problem with one points below `/settings`. */
async function checkedSettings(
  tx: Tx,
  { caller, strategies }: NewChatPlace,
  characterId: string | null,
  settings: ChatSettingsObject,
): Promise<ChatSettings> {
  const { character, tenant } = await readStandingSettings(tx, caller.tenantId, { settings: {}, characterId });
  const place = { tenantId: caller.tenantId, strategies, below: [character, tenant] };
  try {
    return await changeSettings(tx, place, {}, settings);
  } catch (error) {
    if (!(error instanceof AssemblyInputError)) throw error;
    throw fieldProblem(error.code, `/settings${error.pointer}`, error.message, error.fix);
  }
}
