import { z } from "zod";
import { PageQuery, publicId, Timestamp } from "./fields.ts";
import { BoundedCount } from "./generation-filter.ts";

export const ERROR_STATES = ["open", "resolved", "ignored"] as const;

/** Query of `GET /errors`. */
export const ErrorQuery = PageQuery.extend({
  state: z.enum(ERROR_STATES).optional(),
  errorCode: z.string().min(1).max(100).optional(),
  errorOrigin: z.enum(["client", "provider", "platform"]).optional(),
  model: z.string().min(1).max(200).optional(),
  /** For admin keys with `X-Tenant-Id: *`. */
  tenantId: publicId("tenant").optional(),
});

/** Body of `PATCH /errors/:fingerprint`. */
export const PatchErrorGroup = z.strictObject({ state: z.enum(ERROR_STATES) });

/** Failures of one kind: the same code from the same kind of provider and model. */
export const ErrorGroupObject = z.object({
  object: z.literal("error_group"),
  /** Given where a list goes across tenants; the same kind of failure is then listed for each. */
  tenantId: publicId("tenant").optional(),
  fingerprint: z.string(),
  errorCode: z.string(),
  errorOrigin: z.string(),
  providerKind: z.string(),
  model: z.string(),
  count: BoundedCount,
  firstSeenAt: Timestamp,
  lastSeenAt: Timestamp,
  /** The newest ones. */
  sampleGenerationIds: z.array(publicId("generation")),
  state: z.enum(ERROR_STATES),
  /** It was resolved and has happened again since: it is open. */
  regressed: z.boolean(),
  /** `null` = nobody has said anything of it. */
  stateChangedAt: Timestamp.nullable(),
});
export type ErrorGroupObject = z.infer<typeof ErrorGroupObject>;
