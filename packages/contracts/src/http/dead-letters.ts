import { z } from "zod";
import { PageQuery, publicId } from "./fields.ts";
import { DEAD_LETTER_STATES } from "./generation-filter.ts";
import { GenerationObject } from "./generations.ts";

/** Query of `GET /dead-letters`. */
export const DeadLetterQuery = PageQuery.extend({
  state: z.enum(DEAD_LETTER_STATES).default("open"),
  errorFingerprint: z.string().min(1).max(200).optional(),
  errorCode: z.string().min(1).max(100).optional(),
  model: z.string().min(1).max(200).optional(),
  /** For admin keys with `X-Tenant-Id: *`. */
  tenantId: publicId("tenant").optional(),
});

export const Note = z.string().trim().min(1).max(1_000);

/** Body of `POST /dead-letters/:generationId/discard`. */
export const DiscardDeadLetter = z.strictObject({ note: Note });

/** A generation that failed for a reason outside the request, until somebody retries or discards it. */
export const DeadLetterObject = z.object({
  object: z.literal("dead_letter"),
  /** The generation's. */
  id: publicId("generation"),
  /** Given where a list goes across tenants. */
  tenantId: publicId("tenant").optional(),
  state: z.enum(DEAD_LETTER_STATES),
  /** Why it was discarded. */
  note: z.string().nullable(),
  errorFingerprint: z.string().nullable(),
  generation: GenerationObject,
});
export type DeadLetterObject = z.infer<typeof DeadLetterObject>;
