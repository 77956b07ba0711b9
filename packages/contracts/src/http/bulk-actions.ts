import { z } from "zod";
import { Note } from "./dead-letters.ts";
import { publicId, Timestamp } from "./fields.ts";
import { BoundedCount, GenerationFilter } from "./generation-filter.ts";

const BULK_ACTIONS = ["cancel", "retry", "discard"] as const;
export const MOST_BULK_IDS = 1_000;

/**
 * Why a retry has no place in its chat: the chat has moved on or shows another branch, the message is gone, cannot be
 * answered now, or nothing of the request is stored any more. Also `params.reason` of the 409 of a single retry.
 */
export const RETRY_OBSTACLES = [
  "chat_moved_on",
  "other_branch",
  "message_gone",
  "message_left_out",
  "not_stored",
] as const;
export type RetryObstacle = (typeof RETRY_OBSTACLES)[number];

/**
 * Why a bulk action passed a generation over. `not_in_state`: not there, or not in a state for it, any more; `newer_try`: the
 * action is for a later try of the same turn too; `chat_busy`: a generation of its chat is active. Append-only.
 */
const SKIP_REASONS = ["not_in_state", "newer_try", "chat_busy", ...RETRY_OBSTACLES] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** Which generations a bulk action is for, as asked for: a filter or a list. */
export const BulkTarget = z.strictObject({
  filter: GenerationFilter.optional(),
  ids: z.array(publicId("generation")).min(1).max(MOST_BULK_IDS).optional(),
});
export type BulkTarget = z.infer<typeof BulkTarget>;

/**
 * Body of `POST /bulk-actions`. `cancel` takes what is active, `retry` what failed or was cancelled, `discard` open dead
 * letters; all of them only what was accepted before the action.
 */
export const CreateBulkAction = BulkTarget.extend({
  action: z.enum(BULK_ACTIONS),
  /** An empty filter is refused unless it is meant. */
  all: z.literal(true).optional(),
  /** Only count, and show a few. */
  dryRun: z.boolean().default(false),
  /** Reason of a cancel, note of a discard. */
  note: Note.optional(),
}).superRefine(({ action, filter, ids, all, note }, context) => {
  const complain = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
  if ((filter === undefined) === (ids === undefined)) complain("filter", "give either a filter or ids");
  if (filter !== undefined && Object.keys(filter).length === 0 && all !== true) {
    complain("filter", 'is empty: say "all": true when every generation is meant');
  }
  if (action === "discard" && note === undefined) complain("note", "is needed to discard");
});
export type CreateBulkAction = z.infer<typeof CreateBulkAction>;

/** What a dry run found. */
export const BulkActionPreview = z.object({
  object: z.literal("bulk_action_preview"),
  action: z.enum(BULK_ACTIONS),
  count: BoundedCount,
  /** The oldest ones, which would come first. */
  sample: z.array(publicId("generation")),
});

export const BulkActionObject = z.object({
  id: publicId("bulkAction"),
  object: z.literal("bulk_action"),
  action: z.enum(BULK_ACTIONS),
  /** Both null = it was for a chat that was deleted since. */
  filter: GenerationFilter.nullable(),
  ids: z.array(publicId("generation")).nullable(),
  note: z.string().nullable(),
  status: z.enum(["queued", "running", "completed", "aborted"]),
  progress: z.object({
    /** As counted when it was accepted. */
    total: BoundedCount,
    done: z.number().int(),
    succeeded: z.number().int(),
    /** Nothing was to be done, see `skips`. */
    skipped: z.number().int(),
    failed: z.number().int(),
  }),
  /** The skipped ones by reason. */
  skips: z.record(z.string(), z.number().int()),
  /** The failed ones by error code. */
  failures: z.record(z.string(), z.number().int()),
  createdAt: Timestamp,
  startedAt: Timestamp.nullable(),
  finishedAt: Timestamp.nullable(),
});
export type BulkActionObject = z.infer<typeof BulkActionObject>;
