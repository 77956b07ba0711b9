import type { LorebookBinding } from "@shiftwork/contracts";
import { bindLorebook, type BindingRow, type Tx } from "@shiftwork/db";
import type { Caller } from "../../auth/caller.ts";
import { uuidOf } from "../ids.ts";
import { namedCharacter, namedPersona, visibleChat } from "../visible.ts";

const EVERYWHERE: BindingRow = { chatId: null, personaId: null, characterId: null };

/** Binds a book where the request says, after making sure that the caller can see that place. */
export async function bind(tx: Tx, caller: Caller, lorebookId: string, binding: LorebookBinding): Promise<void> {
  await bindLorebook(tx, caller.tenantId, lorebookId, await bindingRow(tx, caller, binding));
}

async function bindingRow(tx: Tx, caller: Caller, binding: LorebookBinding): Promise<BindingRow> {
  if ("chatId" in binding) {
    const chat = await visibleChat(tx, caller, uuidOf("chat", binding.chatId));
    return { ...EVERYWHERE, chatId: chat.id };
  }
  if ("characterId" in binding) {
    const character = await namedCharacter(tx, caller, uuidOf("character", binding.characterId));
    return { ...EVERYWHERE, characterId: character?.id ?? null };
  }
  if ("personaId" in binding) {
    const persona = await namedPersona(tx, caller, uuidOf("persona", binding.personaId));
    return { ...EVERYWHERE, personaId: persona?.id ?? null };
  }
  return EVERYWHERE;
}
