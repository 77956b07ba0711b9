import { CreateLoreEntry, encodeId, LoreEntryObject } from "@shiftwork/contracts";
import { findLoreEntry, insertLoreEntries, lockLorebook, nextEntryUid } from "@shiftwork/db";
import { uuidv7 } from "uuidv7";
import { answerOnce } from "../../answer-once.ts";
import { notFound } from "../../errors.ts";
import { created, endpoint } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { loreEntryObject } from "./lorebook-object.ts";

export const createLoreEntry = endpoint({
  method: "POST",
  path: "/api/v2/lorebooks/:lorebookId/entries",
  tag: "Lore",
  summary: "Add an entry to a lorebook",
  scope: "lore:write",
  body: CreateLoreEntry,
  result: LoreEntryObject,
  statuses: [201],
  errors: ["LOREBOOK_NOT_FOUND", "IDEMPOTENCY_KEY_REUSED"],
  handle: (deps, call) =>
    answerOnce(deps, call, async (tx) => {
      const { tenantId } = call.caller;
      const lorebookId = pathId(call, "lorebook");
      if (!(await lockLorebook(tx, tenantId, lorebookId))) throw notFound("lorebook");
      const entry = { id: uuidv7(), uid: await nextEntryUid(tx, tenantId, lorebookId), data: call.body, source: null };
      await insertLoreEntries(tx, tenantId, lorebookId, [entry]);
      const row = await findLoreEntry(tx, tenantId, lorebookId, entry.id);
      if (!row) throw notFound("loreEntry");
      const book = encodeId("lorebook", lorebookId);
      return created(`/api/v2/lorebooks/${book}/entries/${encodeId("loreEntry", entry.id)}`, loreEntryObject(row));
    }),
});
