import { CreatePersona, encodeId, PersonaObject } from "@shiftwork/contracts";
import { findPersona, insertPersona } from "@shiftwork/db";
import { uuidv7 } from "uuidv7";
import { answerOnce } from "../../answer-once.ts";
import { notFound } from "../../errors.ts";
import { created, endpoint } from "../endpoint.ts";
import { personaObject } from "./persona-object.ts";

export const createPersona = endpoint({
  method: "POST",
  path: "/api/v2/personas",
  tag: "Authoring",
  summary: "Create a persona: who the user is",
  scope: "authoring:write",
  body: CreatePersona,
  result: PersonaObject,
  statuses: [201],
  errors: ["IDEMPOTENCY_KEY_REUSED", "IDEMPOTENCY_IN_PROGRESS", "PAYLOAD_TOO_LARGE"],
  handle: (deps, call) =>
    answerOnce(deps, call, async (tx) => {
      const { tenantId } = call.caller;
      const id = uuidv7();
      await insertPersona(tx, tenantId, { id, ...call.body });
      const row = await findPersona(tx, tenantId, id);
      if (!row) throw notFound("persona");
      return created(`/api/v2/personas/${encodeId("persona", id)}`, personaObject(row));
    }),
});
