import { encodeId } from "@shiftwork/contracts";
import type { ApiUnderTest } from "./api-under-test.ts";
import { multipartForm } from "./multipart-form.ts";
import { CHAT_FILE, TOKENIZER_FILE, type SampleIds } from "./sample-requests.ts";

/** Makes one of everything through the API. The chat's generation is cancelled, so that the chat is idle. `owner` = everything is that owner's. */
export async function seedTenant(
  api: ApiUnderTest,
  tenant: { readonly id: string; readonly key: string; readonly providerId: string },
  owner?: string,
): Promise<SampleIds> {
  const headers = owner === undefined ? {} : { "x-owner-id": owner };
  const create = async (path: string, body: unknown, more: { readonly [name: string]: string } = {}) => {
    const answer = await api.call("POST", path, { key: tenant.key, body, headers: { ...headers, ...more } });
    if (answer.status > 202) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body.id;
  };
  const character = await create("/api/v2/characters", { name: "Ada", firstMessage: "Hello, {{user}}." });
  const persona = await create("/api/v2/personas", { name: "Grace" });
  const lorebook = await create("/api/v2/lorebooks", { name: "World" });
  const loreEntry = await create(`/api/v2/lorebooks/${lorebook}/entries`, { keys: ["sea"], content: "Salt." });
  const chat = await create("/api/v2/chats", { characterId: character, personaId: persona });
  const message = await create(`/api/v2/chats/${chat}/messages`, { content: "I like the sea." });
  const memory = await create("/api/v2/memories", { chatId: chat, content: "Likes the sea." });
  const { body, headers: type } = multipartForm({ name: "c.jsonl", bytes: CHAT_FILE });
  const imported = await create("/api/v2/imports", body, type);
  const file = multipartForm({ name: "t.json", bytes: TOKENIZER_FILE }, { name: "Own", models: "own-*" });
  const tokenizer = await create("/api/v2/tokenizers", file.body, file.headers);
  const generation = await create(`/api/v2/chats/${chat}/generations`, { message: "And you?" });
  await create(`/api/v2/generations/${generation}/cancel`, {});
  const bulkAction = await create("/api/v2/bulk-actions", { action: "cancel", ids: [generation] });
  const provider = tenant.providerId;
  const more = { bulkAction, tokenizer, tenant: encodeId("tenant", tenant.id) };
  return {
    character,
    persona,
    lorebook,
    loreEntry,
    memory,
    chat,
    message,
    generation,
    import: imported,
    provider,
    ...more,
  };
}
