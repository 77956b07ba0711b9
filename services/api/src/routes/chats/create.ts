import { ChatObject, CreateChat, encodeId, type ChatSettingsObject } from "@shiftwork/contracts";
import { appendMessages, findProvider, insertChat, type ChatSettings, type Tx } from "@shiftwork/db";
import { AssemblyInputError, resolveStrategy } from "@shiftwork/pipeline";
import { uuidv7 } from "uuidv7";
import { answerOnce } from "../../answer-once.ts";
import type { Caller } from "../../auth/caller.ts";
import { fieldProblem, notFound } from "../../errors.ts";
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
      await storeChat(tx, call.caller, id, call.body);
      return created(`/api/v2/chats/${encodeId("chat", id)}`, chatObject(await visibleChat(tx, call.caller, id)));
    }),
});

async function storeChat(tx: Tx, caller: Caller, id: string, body: CreateChat): Promise<void> {
  const character = await namedCharacter(tx, caller, uuidOf("character", body.characterId));
  const persona = await namedPersona(tx, caller, uuidOf("persona", body.personaId));
  await insertChat(tx, caller.tenantId, {
    id,
    title: body.title,
    characterId: character?.id ?? null,
    personaId: persona?.id ?? null,
    ownerId: ownerOfNewChat(caller, body.ownerId),
    settings: await checkedSettings(tx, caller, body.settings),
    metadata: body.metadata,
  });
  const greeting = character && body.greeting ? greetingOf(character.data, persona) : null;
  if (greeting) await appendMessages(tx, caller.tenantId, id, [greeting]);
}

async function checkedSettings(tx: Tx, caller: Caller, settings: ChatSettingsObject): Promise<ChatSettings> {
  const { providerId, contextStrategy } = settings;
  if (contextStrategy !== undefined) requireStrategy(contextStrategy);
  const provider = uuidOf("provider", providerId);
  if (provider !== null && !(await findProvider(tx, caller.tenantId, provider))) throw notFound("provider");
  const chosen = { ...settings, ...(provider === null ? {} : { providerId: provider }) };
  return Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== undefined));
}

function requireStrategy(id: string): void {
  try {
    resolveStrategy(id, {});
  } catch (error) {
    if (!(error instanceof AssemblyInputError)) throw error;
    throw fieldProblem(error.code, `/settings${error.pointer}`, error.message, error.fix);
  }
}
