import { z } from "zod";
import { GENERATION_STATUSES } from "../events.ts";
import { PageQuery, publicId, Timestamp } from "./fields.ts";

/** As generations show it: `running` ones with a cancel accepted are `cancelling`. */
export const SHOWN_STATUSES = [...GENERATION_STATUSES, "cancelling"] as const;
export type ShownStatus = (typeof SHOWN_STATUSES)[number];

export const DEAD_LETTER_STATES = ["open", "retried", "discarded"] as const;

/** Lists and bulk actions count to here and no further. */
export const LARGEST_COUNT = 10_000;

const Statuses = z.array(z.enum(SHOWN_STATUSES)).min(1).max(SHOWN_STATUSES.length);
const Milliseconds = z.number().int().min(0).max(2_147_483_647);
/** `gen_` and the first digits of an id. */
const IdPrefix = z.string().regex(/^gen_[0-9a-f]{1,32}$/, "must be gen_ and the beginning of an id");
const LabelKey = z.string().min(1).max(128);
const MOST_LABELS = 5;

/** Which generations: all conditions hold at once. Times compare with `createdAt`, `until` excluded. */
export const GenerationFilter = z.strictObject({
  status: Statuses.optional(),
  /** None of these. */
  "status!": Statuses.optional(),
  errorCode: z.string().min(1).max(100).optional(),
  errorOrigin: z.enum(["client", "provider", "platform"]).optional(),
  /** Of one kind of failure, see `/errors`. */
  errorFingerprint: z.string().min(1).max(200).optional(),
  deadLetter: z.enum(DEAD_LETTER_STATES).optional(),
  model: z.string().min(1).max(200).optional(),
  providerId: publicId("provider").optional(),
  chatId: publicId("chat").optional(),
  strategy: z.string().min(1).max(100).optional(),
  /** Counted with an estimate; known once it has ended, as is what follows. */
  approximate: z.boolean().optional(),
  /** Something in the prompt was shortened. */
  truncated: z.boolean().optional(),
  since: Timestamp.optional(),
  until: Timestamp.optional(),
  /** From start to end. */
  minDurationMs: Milliseconds.optional(),
  /** From acceptance to start. */
  minQueueMs: Milliseconds.optional(),
  /** Sent with this `Idempotency-Key` in the last 24 hours. */
  idempotencyKey: z.string().min(1).max(255).optional(),
  q: IdPrefix.optional(),
  /** Scalars of the metadata, as text. */
  meta: z
    .record(LabelKey, z.string().max(500))
    .refine((labels) => Object.keys(labels).length <= MOST_LABELS, `takes at most ${MOST_LABELS} keys`)
    .optional(),
});
export type GenerationFilter = z.infer<typeof GenerationFilter>;

const { meta: _labels, ...inQuery } = GenerationFilter.shape;
const list = z.string().transform((text) => text.split(","));
const number = z.coerce.number();
const flag = z.enum(["true", "false"]).transform((text) => text === "true");

const QueryFields = PageQuery.extend({
  ...inQuery,
  status: list.pipe(Statuses).optional(),
  "status!": list.pipe(Statuses).optional(),
  approximate: flag.optional(),
  truncated: flag.optional(),
  minDurationMs: number.pipe(Milliseconds).optional(),
  minQueueMs: number.pipe(Milliseconds).optional(),
  sort: z.enum(["-createdAt", "createdAt"]).default("-createdAt"),
  include: z.enum(["count"]).optional(),
  /** For admin keys with `X-Tenant-Id: *`. */
  tenantId: publicId("tenant").optional(),
}).catchall(z.string());

/** Query of `GET /generations`: `status` and `status!` separated by commas, one `meta.<key>` for each label. */
export const GenerationQuery = QueryFields.transform((query, context) => {
  const { limit, cursor, sort, include, tenantId, ...rest } = query;
  const labels = Object.entries(rest).filter(([name]) => !(name in inQuery));
  const unknown = labels.filter(([name]) => !/^meta\../.test(name)).map(([name]) => name);
  if (unknown.length > 0) context.issues.push({ code: "unrecognized_keys", keys: unknown, input: query });
  const meta = labels.map(([name, value]) => [name.slice("meta.".length), value]);
  const known = Object.fromEntries(Object.entries(rest).filter(([name]) => name in inQuery));
  const filter = GenerationFilter.safeParse(meta.length === 0 ? known : { ...known, meta: Object.fromEntries(meta) });
  if (!filter.success) {
    for (const { message } of filter.error.issues) context.addIssue({ code: "custom", message, path: ["meta"] });
  }
  return { limit, cursor, sort, include, tenantId, filter: filter.data ?? {} };
});
export type GenerationQuery = z.infer<typeof GenerationQuery>;

/** A count that stops: `capped` = there are at least this many. */
export const BoundedCount = z.object({ count: z.number().int(), capped: z.boolean() });
