import {
  findCharacter,
  findChat,
  findGeneration,
  findPersona,
  type CharacterRow,
  type ChatRow,
  type GenerationRow,
  type PersonaRow,
  type Tx,
} from "@shiftwork/db";
import type { Caller } from "../auth/caller.ts";
import { notFound } from "../errors.ts";

/** The chat, unless it is missing, another tenant's, or another owner's: all three look the same. */
export async function visibleChat(tx: Tx, caller: Caller, id: string): Promise<ChatRow> {
  const chat = await findChat(tx, caller.tenantId, id, caller.ownerId);
  if (!chat) throw notFound("chat");
  return chat;
}

/** As `visibleChat`, for a generation. */
export async function visibleGeneration(tx: Tx, caller: Caller, id: string): Promise<GenerationRow> {
  const generation = await findGeneration(tx, caller.tenantId, id);
  if (!generation || (caller.ownerId !== null && generation.ownerId !== caller.ownerId)) throw notFound("generation");
  return generation;
}

/** The character a request names; `null` when it names none. */
export async function namedCharacter(tx: Tx, caller: Caller, id: string | null): Promise<CharacterRow | null> {
  if (id === null) return null;
  const character = await findCharacter(tx, caller.tenantId, id);
  if (!character) throw notFound("character");
  return character;
}

/** The persona a request names; `null` when it names none. */
export async function namedPersona(tx: Tx, caller: Caller, id: string | null): Promise<PersonaRow | null> {
  if (id === null) return null;
  const persona = await findPersona(tx, caller.tenantId, id);
  if (!persona) throw notFound("persona");
  return persona;
}
