import type { ENDPOINTS } from "../routes/index.ts";
import { readFileSync } from "node:fs";
import { multipartForm } from "./multipart-form.ts";

/** Public ids of one tenant's rows. */
export interface SampleIds {
  readonly character: string;
  readonly persona: string;
  readonly lorebook: string;
  readonly loreEntry: string;
  readonly memory: string;
  readonly chat: string;
  readonly message: string;
  readonly generation: string;
  readonly import: string;
  readonly provider: string;
  readonly bulkAction: string;
  readonly tokenizer: string;
  readonly tenant: string;
}

export interface SampleRequest {
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: { readonly [name: string]: string };
}

export const BOOK_FILE = JSON.stringify({
  name: "Book",
  entries: { "0": { uid: 0, key: ["dragon"], content: "Fire." } },
});
export const TOKENIZER_FILE = readFileSync(
  new URL("../../../../packages/pipeline/fixtures/tokenizer.json", import.meta.url),
);
export const CHAT_FILE =
  '{"user_name":"U","character_name":"C","chat_metadata":{}}\n{"name":"U","is_user":true,"mes":"Hi"}';

/** Requests of every endpoint that together use every id it takes. A new endpoint does not compile without its own. */
export const SAMPLE_REQUESTS: {
  readonly [Id in keyof typeof ENDPOINTS]: readonly ((ids: SampleIds) => SampleRequest)[];
} = {
  createCharacter: [() => ({ path: "/api/v2/characters", body: { name: "Ada" } })],
  listCharacters: [() => ({ path: "/api/v2/characters" })],
  readCharacter: [(ids) => ({ path: `/api/v2/characters/${ids.character}` })],
  createPersona: [() => ({ path: "/api/v2/personas", body: { name: "Me" } })],
  listPersonas: [() => ({ path: "/api/v2/personas" })],
  readPersona: [(ids) => ({ path: `/api/v2/personas/${ids.persona}` })],
  createLorebook: [
    (ids) => ({ path: "/api/v2/lorebooks", body: { name: "B", bindings: [{ chatId: ids.chat }] } }),
    (ids) => ({ path: "/api/v2/lorebooks", body: { name: "B", bindings: [{ characterId: ids.character }] } }),
    (ids) => ({ path: "/api/v2/lorebooks", body: { name: "B", bindings: [{ personaId: ids.persona }] } }),
  ],
  listLorebooks: [() => ({ path: "/api/v2/lorebooks" })],
  readLorebook: [(ids) => ({ path: `/api/v2/lorebooks/${ids.lorebook}` })],
  createLoreEntry: [
    (ids) => ({ path: `/api/v2/lorebooks/${ids.lorebook}/entries`, body: { keys: ["k"], content: "c" } }),
  ],
  listLoreEntries: [(ids) => ({ path: `/api/v2/lorebooks/${ids.lorebook}/entries` })],
  readLoreEntry: [(ids) => ({ path: `/api/v2/lorebooks/${ids.lorebook}/entries/${ids.loreEntry}` })],
  createMemory: [
    (ids) => ({ path: "/api/v2/memories", body: { chatId: ids.chat, sourceMessageId: ids.message, content: "m" } }),
    (ids) => ({ path: "/api/v2/memories", body: { characterId: ids.character, content: "m" } }),
  ],
  listMemories: [
    (ids) => ({ path: `/api/v2/memories?chatId=${ids.chat}` }),
    (ids) => ({ path: `/api/v2/memories?characterId=${ids.character}` }),
  ],
  readMemory: [(ids) => ({ path: `/api/v2/memories/${ids.memory}` })],
  createImport: [
    (ids) => ({
      path: "/api/v2/imports",
      ...multipartForm({ name: "b.json", bytes: BOOK_FILE }, { chatId: ids.chat }),
    }),
    (ids) => ({
      path: "/api/v2/imports",
      ...multipartForm({ name: "c.jsonl", bytes: CHAT_FILE }, { characterId: ids.character, personaId: ids.persona }),
    }),
  ],
  readImport: [(ids) => ({ path: `/api/v2/imports/${ids.import}` })],
  createChat: [
    (ids) => ({
      path: "/api/v2/chats",
      body: { characterId: ids.character, personaId: ids.persona, settings: { providerId: ids.provider } },
    }),
  ],
  listChats: [() => ({ path: "/api/v2/chats" })],
  readChat: [(ids) => ({ path: `/api/v2/chats/${ids.chat}` })],
  deleteChat: [(ids) => ({ path: `/api/v2/chats/${ids.chat}` })],
  createMessage: [(ids) => ({ path: `/api/v2/chats/${ids.chat}/messages`, body: { content: "Hello" } })],
  listMessages: [(ids) => ({ path: `/api/v2/chats/${ids.chat}/messages` })],
  readMessage: [(ids) => ({ path: `/api/v2/chats/${ids.chat}/messages/${ids.message}` })],
  updateMessage: [(ids) => ({ path: `/api/v2/chats/${ids.chat}/messages/${ids.message}`, body: { pinned: true } })],
  deleteMessage: [(ids) => ({ path: `/api/v2/chats/${ids.chat}/messages/${ids.message}` })],
  selectMessage: [(ids) => ({ path: `/api/v2/chats/${ids.chat}/messages/${ids.message}/select` })],
  createBranch: [
    (ids) => ({ path: `/api/v2/chats/${ids.chat}/branches`, body: { messageId: ids.message, activate: false } }),
  ],
  listBranches: [(ids) => ({ path: `/api/v2/chats/${ids.chat}/branches` })],
  activateBranch: [(ids) => ({ path: `/api/v2/chats/${ids.chat}/branches/0/activate` })],
  createGeneration: [
    (ids) => ({
      path: `/api/v2/chats/${ids.chat}/generations`,
      body: { message: "Hi", providerId: ids.provider, personaId: ids.persona, lorebookIds: [ids.lorebook] },
    }),
  ],
  listGenerations: [
    (ids) => ({ path: `/api/v2/generations?chatId=${ids.chat}` }),
    (ids) => ({ path: `/api/v2/generations?providerId=${ids.provider}&status!=queued,running` }),
  ],
  readGeneration: [(ids) => ({ path: `/api/v2/generations/${ids.generation}` })],
  streamGeneration: [(ids) => ({ path: `/api/v2/generations/${ids.generation}/events` })],
  cancelGeneration: [(ids) => ({ path: `/api/v2/generations/${ids.generation}/cancel`, body: {} })],
  retryGeneration: [(ids) => ({ path: `/api/v2/generations/${ids.generation}/retry`, body: { mode: "rebuild" } })],
  readContextAudit: [(ids) => ({ path: `/api/v2/chats/${ids.chat}/context-audit` })],
  createContextPreview: [
    (ids) => ({
      path: "/api/v2/context-preview",
      body: {
        chatId: ids.chat,
        message: "Hi",
        providerId: ids.provider,
        personaId: ids.persona,
        lorebookIds: [ids.lorebook],
      },
    }),
    (ids) => ({
      path: "/api/v2/context-preview",
      body: { characterId: ids.character, message: "Hi", personaId: ids.persona, lorebookIds: [ids.lorebook] },
    }),
  ],
  listContextStrategies: [() => ({ path: "/api/v2/context-strategies" })],
  createTokenizer: [
    () => ({
      path: "/api/v2/tokenizers",
      ...multipartForm({ name: "tokenizer.json", bytes: TOKENIZER_FILE }, { name: "Own", models: "own-*" }),
    }),
  ],
  listTokenizers: [() => ({ path: "/api/v2/tokenizers" })],
  deleteTokenizer: [(ids) => ({ path: `/api/v2/tokenizers/${ids.tokenizer}` })],
  tokenize: [
    (ids) => ({ path: "/api/v2/tokenize", body: { tokenizer: ids.tokenizer, text: "Hello" } }),
    () => ({ path: "/api/v2/tokenize", body: { model: "gpt-4o", messages: [{ role: "user", content: "Hello" }] } }),
  ],
  readSettings: [() => ({ path: "/api/v2/settings" })],
  updateSettings: [
    (ids) => ({ path: "/api/v2/settings", body: { providerId: ids.provider } }),
    (ids) => ({
      path: "/api/v2/settings",
      body: { contextStrategy: "compress", strategyOptions: { summarizer: { providerId: ids.provider } } },
    }),
  ],
  readChatSettings: [(ids) => ({ path: `/api/v2/chats/${ids.chat}/settings` })],
  updateChatSettings: [(ids) => ({ path: `/api/v2/chats/${ids.chat}/settings`, body: { providerId: ids.provider } })],
  readCharacterSettings: [(ids) => ({ path: `/api/v2/characters/${ids.character}/settings` })],
  updateCharacterSettings: [
    (ids) => ({ path: `/api/v2/characters/${ids.character}/settings`, body: { providerId: ids.provider } }),
  ],
  listErrors: [() => ({ path: "/api/v2/errors" })],
  readError: [() => ({ path: "/api/v2/errors/none" })],
  updateError: [() => ({ path: "/api/v2/errors/none", body: { state: "resolved" } })],
  listDeadLetters: [() => ({ path: "/api/v2/dead-letters" })],
  readDeadLetter: [(ids) => ({ path: `/api/v2/dead-letters/${ids.generation}` })],
  retryDeadLetter: [(ids) => ({ path: `/api/v2/dead-letters/${ids.generation}/retry` })],
  discardDeadLetter: [(ids) => ({ path: `/api/v2/dead-letters/${ids.generation}/discard`, body: { note: "Seen." } })],
  createBulkAction: [
    (ids) => ({ path: "/api/v2/bulk-actions", body: { action: "retry", ids: [ids.generation] } }),
    (ids) => ({ path: "/api/v2/bulk-actions", body: { action: "retry", filter: { chatId: ids.chat } } }),
  ],
  listBulkActions: [() => ({ path: "/api/v2/bulk-actions" })],
  readBulkAction: [(ids) => ({ path: `/api/v2/bulk-actions/${ids.bulkAction}` })],
  abortBulkAction: [(ids) => ({ path: `/api/v2/bulk-actions/${ids.bulkAction}/abort` })],
  readQueueStats: [() => ({ path: "/api/v2/stats/queue" })],
  listWorkers: [() => ({ path: "/api/v2/workers" })],
  pauseQueue: [() => ({ path: "/api/v2/queues/default/pause" })],
  resumeQueue: [() => ({ path: "/api/v2/queues/default/resume" })],
  createTenant: [() => ({ path: "/api/v2/tenants", body: { name: "T", weight: 2 } })],
  listTenants: [() => ({ path: "/api/v2/tenants" })],
  readTenant: [(ids) => ({ path: `/api/v2/tenants/${ids.tenant}` })],
  updateTenant: [(ids) => ({ path: `/api/v2/tenants/${ids.tenant}`, body: { maxQueued: 10_000 } })],
  pauseTenant: [(ids) => ({ path: `/api/v2/tenants/${ids.tenant}/pause` })],
  resumeTenant: [(ids) => ({ path: `/api/v2/tenants/${ids.tenant}/resume` })],
  readHealth: [() => ({ path: "/api/v2/health" })],
  readLiveness: [() => ({ path: "/livez" })],
  readReadiness: [() => ({ path: "/readyz" })],
  readVersion: [() => ({ path: "/api/v2/version" })],
};
