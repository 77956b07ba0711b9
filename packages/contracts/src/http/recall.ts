import { z } from "zod";
import { publicId } from "./fields.ts";

/** Most that a turn may wait for its own question's vector, in milliseconds. */
const LONGEST_WAIT_MS = 2_000;

const questionWaitMs = z.number().int().min(0).max(LONGEST_WAIT_MS);

/**
 * Whose vectors memories and lore are recalled by, beside their words. `questionWaitMs` = how long a turn may wait for the
 * vector of what was just said (default: 500 for `use-lite`, which computes it here, and 0 for a call over the network);
 * it never waits for any other.
 */
export const RecallSetting = z.discriminatedUnion("provider", [
  z.strictObject({ provider: z.literal("hash-ngram-1024") }),
  z.strictObject({ provider: z.literal("use-lite"), questionWaitMs: questionWaitMs.optional() }),
  z.strictObject({
    provider: z.literal("openai-compatible"),
    providerId: publicId("provider"),
    model: z.string().min(1).max(200),
    /** Numbers in one of the model's vectors. */
    dims: z.number().int().min(2).max(8_192),
    /** Texts are unrelated below this cosine; default 0.25. */
    minimumCosine: z.number().min(0).max(1).optional(),
    questionWaitMs: questionWaitMs.optional(),
  }),
]);
export type RecallSetting = z.infer<typeof RecallSetting>;
