import type { ImportFields, LorebookBinding } from "@shiftwork/contracts";
import type { BookImport, CardImport, ChatImport } from "@shiftwork/formats";
import {
  appendMessages,
  bindLorebook,
  insertCharacter,
  insertChat,
  insertLorebook,
  insertLoreEntries,
  type Tx,
} from "@shiftwork/db";
import { uuidv7 } from "uuidv7";
import type { Caller } from "../auth/caller.ts";
import { fieldProblem } from "../errors.ts";
import { ownerOfNewChat } from "../routes/chats/chat-owner.ts";
import { uuidOf } from "../routes/ids.ts";
import { bind } from "../routes/lorebooks/bind.ts";
import { namedCharacter, namedPersona } from "../routes/visible.ts";
import { importedMessage } from "./imported-message.ts";
import type { ImportedFile } from "./read-file.ts";
import type { ImportForm } from "./import-form.ts";

/** What an import made, as its row keeps it: uuids and counts. */
export interface ImportResult {
  readonly characterId: string | null;
  readonly lorebookId: string | null;
  readonly chatId: string | null;
  readonly messages: number;
  readonly loreEntries: number;
}

const NOTHING: ImportResult = { characterId: null, lorebookId: null, chatId: null, messages: 0, loreEntries: 0 };

/** The fields each kind of file takes; another one would be ignored silently. */
const KIND_FIELDS = {
  card: [],
  lorebook: ["characterId", "personaId", "chatId"],
  chat: ["characterId", "personaId", "title", "ownerId"],
} as const satisfies Record<ImportedFile["kind"], readonly (keyof ImportFields)[]>;

/** Stores what the file holds, in the caller's transaction: all of it or nothing. */
export async function storeImport(tx: Tx, caller: Caller, file: ImportedFile, form: ImportForm): Promise<ImportResult> {
  requireFields(file.kind, form.fields);
  switch (file.kind) {
    case "card":
      return storeCard(tx, caller, file.card);
    case "lorebook":
      return storeBook(tx, caller, file.book, form);
    case "chat":
      return storeChat(tx, caller, file.chat, form);
  }
}

function requireFields(kind: ImportedFile["kind"], fields: ImportFields): void {
  const taken: readonly string[] = KIND_FIELDS[kind];
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || taken.includes(name)) continue;
    throw fieldProblem("VALIDATION_FAILED", `/${name}`, `A ${kind} does not take the field ${name}.`, "Remove it.");
  }
}

async function storeCard(tx: Tx, caller: Caller, card: CardImport): Promise<ImportResult> {
  const characterId = uuidv7();
  const source = asObject(card.source);
  await insertCharacter(tx, caller.tenantId, { id: characterId, data: card.character, source });
  if (!card.lorebook) return { ...NOTHING, characterId };
  const lorebookId = await insertBook(tx, caller, card.lorebook, card.character.name);
  await bindLorebook(tx, caller.tenantId, lorebookId, { characterId, chatId: null, personaId: null });
  return { ...NOTHING, characterId, lorebookId, loreEntries: card.lorebook.entries.length };
}

async function storeBook(tx: Tx, caller: Caller, book: BookImport, form: ImportForm): Promise<ImportResult> {
  const lorebookId = await insertBook(tx, caller, book, baseName(form.fileName) ?? "Lorebook");
  await bind(tx, caller, lorebookId, bindingOf(form.fields));
  return { ...NOTHING, lorebookId, loreEntries: book.entries.length };
}

async function insertBook(tx: Tx, caller: Caller, book: BookImport, fallbackName: string): Promise<string> {
  const { name, scanDepth, budgetTokens, wordBoundaries } = book;
  const id = uuidv7();
  const settings = { scanDepth, budgetTokens, wordBoundaries, source: asObject(book.source) };
  await insertLorebook(tx, caller.tenantId, { id, name: name === "" ? fallbackName : name, ...settings });
  const entries = book.entries.map(({ uid, ...data }, index) => {
    return { id: uuidv7(), uid, data, source: asObject(book.entrySources[index]) };
  });
  await insertLoreEntries(tx, caller.tenantId, id, entries);
  return id;
}

/** Where a book applies: at the one place the form names, else in every chat of the tenant. */
function bindingOf({ chatId, characterId, personaId }: ImportFields): LorebookBinding {
  const places = [chatId && { chatId }, characterId && { characterId }, personaId && { personaId }];
  const named = places.filter((place) => place !== undefined && place !== "");
  if (named.length > 1) {
    const message = "A lorebook is bound to one place at most.";
    throw fieldProblem("VALIDATION_FAILED", "/chatId", message, "Send one of chatId, characterId and personaId.");
  }
  return named[0] ?? { global: true };
}

async function storeChat(tx: Tx, caller: Caller, chat: ChatImport, form: ImportForm): Promise<ImportResult> {
  const { fields } = form;
  const character = await namedCharacter(tx, caller, uuidOf("character", fields.characterId));
  const persona = await namedPersona(tx, caller, uuidOf("persona", fields.personaId));
  const chatId = uuidv7();
  await insertChat(tx, caller.tenantId, {
    id: chatId,
    title: fields.title ?? baseName(form.fileName) ?? chat.characterName ?? "",
    characterId: character?.id ?? null,
    personaId: persona?.id ?? null,
    ownerId: ownerOfNewChat(caller, fields.ownerId),
    settings: {},
    metadata: chat.metadata === null ? {} : { imported: chat.metadata },
  });
  await appendMessages(tx, caller.tenantId, chatId, chat.messages.map(importedMessage));
  return { ...NOTHING, chatId, messages: chat.messages.length };
}

/** `Eldoria.world.json` → `Eldoria.world`. */
function baseName(fileName: string | null): string | null {
  return fileName?.replace(/\.[a-z0-9]{1,5}$/i, "") ?? null;
}

function asObject(value: unknown): object | null {
  return typeof value === "object" ? value : null;
}
