import { CreateLorebook, encodeId, LorebookObject } from "@shiftwork/contracts";
import { findLorebook, insertLorebook, insertLoreEntries } from "@shiftwork/db";
import { uuidv7 } from "uuidv7";
import { answerOnce } from "../../answer-once.ts";
import { notFound } from "../../errors.ts";
import { created, endpoint } from "../endpoint.ts";
import { bind } from "./bind.ts";
import { lorebookObject } from "./lorebook-object.ts";

export const createLorebook = endpoint({
  method: "POST",
  path: "/api/v2/lorebooks",
  tag: "Lore",
  summary: "Create a lorebook, with its entries and where it applies",
  scope: "lore:write",
  body: CreateLorebook,
  result: LorebookObject,
  statuses: [201],
  errors: ["CHAT_NOT_FOUND", "CHARACTER_NOT_FOUND", "PERSONA_NOT_FOUND", "IDEMPOTENCY_KEY_REUSED"],
  handle: (deps, call) =>
    answerOnce(deps, call, async (tx) => {
      const { tenantId } = call.caller;
      const { bindings, entries, ...book } = call.body;
      const id = uuidv7();
      await insertLorebook(tx, tenantId, { id, ...book, source: null });
      const rows = entries.map((data, uid) => ({ id: uuidv7(), uid, data, source: null }));
      await insertLoreEntries(tx, tenantId, id, rows);
      for (const binding of bindings) await bind(tx, call.caller, id, binding);
      const row = await findLorebook(tx, tenantId, id);
      if (!row) throw notFound("lorebook");
      return created(`/api/v2/lorebooks/${encodeId("lorebook", id)}`, lorebookObject(row));
    }),
});
