import { CreateMemory, encodeId, MemoryObject } from "@shiftwork/contracts";
import { findMemory, findMessage, insertMemory, type Tx } from "@shiftwork/db";
import { uuidv7 } from "uuidv7";
import { answerOnce } from "../../answer-once.ts";
import type { Caller } from "../../auth/caller.ts";
import { fieldProblem, notFound } from "../../errors.ts";
import { created, endpoint } from "../endpoint.ts";
import { uuidOf } from "../ids.ts";
import { namedCharacter, visibleChat } from "../visible.ts";
import { memoryObject } from "./memory-object.ts";

export const createMemory = endpoint({
  method: "POST",
  path: "/api/v2/memories",
  tag: "Authoring",
  summary: "Keep a fact for one chat, or for every chat with a character",
  scope: "authoring:write",
  body: CreateMemory,
  result: MemoryObject,
  statuses: [201],
  errors: ["CHAT_NOT_FOUND", "CHARACTER_NOT_FOUND", "MESSAGE_NOT_FOUND", "IDEMPOTENCY_KEY_REUSED"],
  handle: (deps, call) =>
    answerOnce(deps, call, async (tx) => {
      const { tenantId, ownerId } = call.caller;
      const { content, pinned } = call.body;
      const id = uuidv7();
      await insertMemory(tx, tenantId, { id, content, pinned, ...(await references(tx, call.caller, call.body)) });
      const row = await findMemory(tx, tenantId, id, ownerId);
      if (!row) throw notFound("memory");
      return created(`/api/v2/memories/${encodeId("memory", id)}`, memoryObject(row));
    }),
});

async function references(tx: Tx, caller: Caller, body: CreateMemory) {
  const chatId = uuidOf("chat", body.chatId);
  const characterId = uuidOf("character", body.characterId);
  const sourceMessageId = uuidOf("message", body.sourceMessageId);
  if (chatId !== null) await visibleChat(tx, caller, chatId);
  await namedCharacter(tx, caller, characterId);
  if (sourceMessageId === null) return { chatId, characterId, sourceMessageId };
  if (chatId === null) {
    throw fieldProblem(
      "VALIDATION_FAILED",
      "/sourceMessageId",
      "A character's memory has no source message.",
      "Remove it.",
    );
  }
  if (!(await findMessage(tx, caller.tenantId, chatId, sourceMessageId))) throw notFound("message");
  return { chatId, characterId, sourceMessageId };
}
