import { encodeId, TokenizerFields, TokenizerObject, TokenizerUpload } from "@shiftwork/contracts";
import { findTokenizer, insertTokenizer, listTokenizers, type Tx } from "@shiftwork/db";
import { createHash } from "node:crypto";
import { uuidv7 } from "uuidv7";
import { answerOnce } from "../../answer-once.ts";
import { fieldProblem, HttpProblem, notFound } from "../../errors.ts";
import { readForm } from "../../forms/read-form.ts";
import { created, endpoint } from "../endpoint.ts";
import { requireRoomToWait } from "./require-room-to-wait.ts";
import { tokenizerObject } from "./tokenizer-object.ts";

/** Twice the largest there is, that of Llama 3. */
const MOST_FILE_BYTES = 36_000_000;
/** Of one tenant. */
const MOST_TOKENIZERS = 20;

export const createTokenizer = endpoint({
  method: "POST",
  path: "/api/v2/tokenizers",
  tag: "Context",
  summary: "Bring the tokenizer.json of models, so that they are counted exactly from the next turn on",
  scope: "authoring:write",
  form: TokenizerUpload,
  result: TokenizerObject,
  statuses: [201],
  errors: ["TOKENIZER_INVALID", "CONFLICT", "RATE_LIMITED", "PAYLOAD_TOO_LARGE", "IDEMPOTENCY_KEY_REUSED"],
  handle: async (deps, call) => {
    const { tenantId } = call.caller;
    requireRoomToWait(deps.tokenizers, tenantId);
    const { bytes, fields } = await readForm(call.request, TokenizerFields, MOST_FILE_BYTES);
    const models = patternsOf(fields);
    const file = await deps.tokenizers.check(tenantId, bytes);
    const fingerprint = { ...fields, bytes: createHash("sha256").update(bytes).digest("hex") };
    return answerOnce(
      deps,
      call,
      async (tx) => {
        await requireRoom(tx, tenantId);
        const id = uuidv7();
        await insertTokenizer(tx, tenantId, { id, name: fields.name, models, sizeBytes: bytes.length, file });
        const row = await findTokenizer(tx, tenantId, id);
        if (row === null) throw notFound("tokenizer");
        return created(`/api/v2/tokenizers/${encodeId("tokenizer", id)}`, tokenizerObject(row));
      },
      fingerprint,
    );
  },
});

function patternsOf({ models }: TokenizerFields): readonly string[] {
  const patterns = models.split(",").map((pattern) => pattern.trim());
  if (patterns.every((pattern) => pattern !== "")) return patterns;
  throw fieldProblem("VALIDATION_FAILED", "/models", "A name is blank.", "Separate names of models by one comma.");
}

async function requireRoom(tx: Tx, tenantId: string): Promise<void> {
  const { length } = await listTokenizers(tx, tenantId);
  if (length < MOST_TOKENIZERS) return;
  throw new HttpProblem("CONFLICT", `A tenant has at most ${MOST_TOKENIZERS} tokenizers; delete one first.`, {
    params: { mostTokenizers: MOST_TOKENIZERS },
  });
}
