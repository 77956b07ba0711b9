import { encodeId, ImportObject, ImportUpload } from "@shiftwork/contracts";
import { insertImport, type Tx } from "@shiftwork/db";
import { createHash } from "node:crypto";
import { uuidv7 } from "uuidv7";
import { answerOnce } from "../../answer-once.ts";
import { requireScope, type Caller } from "../../auth/caller.ts";
import { KIND_SCOPES, readFile, type ImportedFile } from "../../imports/read-file.ts";
import { readImportForm, type ImportForm } from "../../imports/import-form.ts";
import { storeImport } from "../../imports/store-import.ts";
import { created, endpoint } from "../endpoint.ts";
import { importObject } from "./import-object.ts";

export const createImport = endpoint({
  method: "POST",
  path: "/api/v2/imports",
  tag: "Imports",
  summary: "Import one file: a character card, a lorebook, or a chat",
  scope: "imports:write",
  form: ImportUpload,
  result: ImportObject,
  statuses: [201],
  errors: [
    "IMPORT_INVALID",
    "CHARACTER_NOT_FOUND",
    "PERSONA_NOT_FOUND",
    "CHAT_NOT_FOUND",
    "PAYLOAD_TOO_LARGE",
    "UNSUPPORTED_MEDIA_TYPE",
    "IDEMPOTENCY_KEY_REUSED",
  ],
  handle: async (deps, call) => {
    const form = await readImportForm(call.request);
    const file = readFile(form);
    requireKindScope(call.caller, file);
    const fingerprint = { ...form, bytes: createHash("sha256").update(form.bytes).digest("hex") };
    return answerOnce(deps, call, (tx) => store(tx, call.caller, file, form), fingerprint);
  },
});

function requireKindScope(caller: Caller, file: ImportedFile): void {
  requireScope(caller, KIND_SCOPES[file.kind]);
  if (file.kind === "card" && file.card.lorebook) requireScope(caller, KIND_SCOPES.lorebook);
}

async function store(tx: Tx, caller: Caller, file: ImportedFile, form: ImportForm) {
  const result = await storeImport(tx, caller, file, form);
  const row = { id: uuidv7(), kind: file.kind, fileName: form.fileName, result, warnings: file.warnings };
  const createdAt = await insertImport(tx, caller.tenantId, row);
  return created(`/api/v2/imports/${encodeId("import", row.id)}`, importObject({ ...row, createdAt }));
}
