import { CharacterObject, CreateCharacter, encodeId } from "@shiftwork/contracts";
import { findCharacter, insertCharacter } from "@shiftwork/db";
import { uuidv7 } from "uuidv7";
import { answerOnce } from "../../answer-once.ts";
import { notFound } from "../../errors.ts";
import { created, endpoint } from "../endpoint.ts";
import { characterObject } from "./character-object.ts";

export const createCharacter = endpoint({
  method: "POST",
  path: "/api/v2/characters",
  tag: "Authoring",
  summary: "Create a character",
  scope: "authoring:write",
  body: CreateCharacter,
  result: CharacterObject,
  statuses: [201],
  errors: ["IDEMPOTENCY_KEY_REUSED", "IDEMPOTENCY_IN_PROGRESS", "PAYLOAD_TOO_LARGE"],
  handle: (deps, call) =>
    answerOnce(deps, call, async (tx) => {
      const { tenantId } = call.caller;
      const id = uuidv7();
      await insertCharacter(tx, tenantId, { id, data: call.body, source: null });
      const row = await findCharacter(tx, tenantId, id);
      if (!row) throw notFound("character");
      return created(`/api/v2/characters/${encodeId("character", id)}`, characterObject(row));
    }),
});
