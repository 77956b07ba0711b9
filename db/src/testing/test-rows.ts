import { uuidv7 } from "uuidv7";
import { insertGeneration, type NewGeneration } from "../queries/generations.ts";
import { insertTenant, type NewTenant } from "../queries/tenants.ts";
import type { GenerationRequest } from "../tables.ts";
import type { Db, Tx } from "../transaction.ts";
import { withTenant } from "../transaction.ts";

/** The rows a generation needs around it: a tenant with a provider, a chat and a user message. */
export interface TestChat {
  readonly tenantId: string;
  readonly providerId: string;
  readonly chatId: string;
  readonly inputMessageId: string;
}

/** Inserts a tenant with one chat; `admin` runs as shiftwork_admin, `db` as a service role. */
export async function insertTestChat(
  admin: Db,
  db: Db,
  limits: Omit<NewTenant, "id" | "name"> = {},
): Promise<TestChat> {
  const chat = { tenantId: uuidv7(), providerId: uuidv7(), chatId: uuidv7(), inputMessageId: uuidv7() };
  await withTenant(admin, chat.tenantId, async (tx) => {
    await insertTenant(tx, { id: chat.tenantId, name: "test", ...limits });
    await tx
      .insertInto("providers")
      .values({ tenant_id: chat.tenantId, id: chat.providerId, name: "echo", kind: "echo", models: [], secret: null })
      .execute();
  });
  await insertChatRows(db, chat);
  return chat;
}

/** A further chat of the same tenant: a chat has one active generation at a time. */
export async function insertAnotherChat(db: Db, chat: TestChat): Promise<TestChat> {
  const another = { ...chat, chatId: uuidv7(), inputMessageId: uuidv7() };
  await insertChatRows(db, another);
  return another;
}

async function insertChatRows(db: Db, chat: TestChat): Promise<void> {
  await withTenant(db, chat.tenantId, async (tx) => {
    await tx
      .insertInto("chats")
      .values({ tenant_id: chat.tenantId, id: chat.chatId, settings: {}, metadata: {} })
      .execute();
    await insertTestMessage(tx, chat, { id: chat.inputMessageId, seq: 1, role: "user", content: "Hello?" });
  });
}

export async function insertTestMessage(
  tx: Tx,
  chat: Pick<TestChat, "tenantId" | "chatId">,
  message: { id: string; seq: number; role: "user" | "assistant"; content: string },
): Promise<void> {
  await tx
    .insertInto("messages")
    .values({ tenant_id: chat.tenantId, chat_id: chat.chatId, tool_calls: [], meta: {}, ...message })
    .execute();
}

/** Accepts a generation for the chat's input and returns its id. */
export async function insertTestGeneration(
  db: Db,
  chat: TestChat,
  deadlineMs = 60_000,
  part: Partial<
    Pick<
      NewGeneration,
      | "id"
      | "model"
      | "action"
      | "strategy"
      | "inputMessageId"
      | "branch"
      | "targetMessageId"
      | "blockedBy"
      | "pendingMessage"
      | "replay"
    >
  > & {
    readonly request?: Partial<GenerationRequest>;
  } = {},
): Promise<string> {
  const { id = uuidv7() } = part;
  await withTenant(db, chat.tenantId, (tx) =>
    insertGeneration(tx, chat.tenantId, {
      id,
      chatId: chat.chatId,
      ownerId: null,
      action: "reply",
      providerId: chat.providerId,
      providerKind: "echo",
      model: "echo-1",
      strategy: "truncate",
      seed: "seed",
      inputMessageId: chat.inputMessageId,
      retryOf: null,
      deadlineAt: new Date(Date.now() + deadlineMs),
      metadata: { source: "test" },
      requestId: null,
      ...part,
      request: {
        parameters: {},
        tools: [],
        budget: { contextLimit: 8192 },
        strategyOptions: {},
        personaId: null,
        lorebookIds: null,
        now: "2026-01-01T00:00:00.000Z",
        expectedHash: null,
        ...part.request,
      },
    }),
  );
  return id;
}
