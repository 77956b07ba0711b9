import { ACTIONS, MOST_STOP_STRINGS } from "@shiftwork/pipeline";
import { z } from "zod";
import { GENERATION_STATUSES } from "../events.ts";
import { Metadata, publicId, Text, Timestamp } from "./fields.ts";
import { GenerationProblem } from "./problem-details.ts";
import { Calibration, TokenizerFacts } from "./tokenizers.ts";

/** Deadline of a generation, in milliseconds: 1 s to 1 h, 10 minutes unless the request says otherwise. */
export const DEADLINE_MS = { least: 1_000, most: 3_600_000, default: 600_000 } as const;

/** What the service decides itself, or what would be sent without being counted. */
const OWN_PARAMETERS = [
  "model",
  "messages",
  "prompt",
  "stream",
  "stream_options",
  "max_tokens",
  "max_completion_tokens",
  "n",
  "tools",
  "functions",
] as const;

const Extra = z.record(z.string().min(1).max(100), z.unknown()).superRefine((extra, context) => {
  for (const name of OWN_PARAMETERS.filter((own) => Object.hasOwn(extra, own)))
    context.addIssue({ code: "custom", path: [name], message: "is set by the service and cannot be passed through" });
});

/** Samplers sent on as given; `extra` is passed through unread, but for names the service sets itself. */
const Parameters = z.strictObject({
  maxTokens: z.number().optional(),
  temperature: z.number().min(0).max(5).optional(),
  topP: z.number().min(0).max(1).optional(),
  frequencyPenalty: z.number().min(-2).max(2).optional(),
  presencePenalty: z.number().min(-2).max(2).optional(),
  stop: z
    .array(z.string().min(1).max(500))
    .max(MOST_STOP_STRINGS, `must have at most ${MOST_STOP_STRINGS} strings: providers take no more`)
    .optional(),
  seed: z.number().int().optional(),
  extra: Extra.optional(),
});

const Tool = z.strictObject({
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, "must be 1 to 64 letters, digits, _ or -"),
  description: z.string().max(10_000).nullable().default(null),
  parameters: z.record(z.string(), z.unknown()).default({ type: "object", properties: {} }),
});

/** What a preview promised; a generation that is given it is refused when the promise cannot hold any more. */
export const AssemblyPromise = z.strictObject({
  hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/, "must be 64 hexadecimal digits")
    .nullable(),
  seed: z.string().min(1).max(200),
  now: Timestamp,
  chatRevision: z.number().int().min(0),
  /** What estimates were multiplied by, `null` = nothing: a generation that is given it counts the same, whatever was learned since. */
  calibration: Calibration.nullable().optional(),
});
export type AssemblyPromise = z.infer<typeof AssemblyPromise>;

const Spoken = Text.regex(/\S/, "must not be blank");

/** The part of a turn that a generation and a preview share. */
export const turnFields = {
  /** The user's message. Without one, the chat's last message must be the user's. */
  message: z
    .union([Spoken, z.strictObject({ content: Spoken, name: z.string().min(1).max(500).optional() })])
    .optional(),
  /** `regenerate` and `swipe` answer anew what a reply answers; the new one stands beside it. */
  action: z
    .enum(["reply", "regenerate", "swipe"], { error: 'only "reply", "regenerate" and "swipe" are available' })
    .default("reply"),
  /** The reply to answer anew; without it the chat's last one. */
  targetMessageId: publicId("message").optional(),
  providerId: publicId("provider").optional(),
  model: z.string().min(1).max(200).optional(),
  parameters: Parameters.default({}),
  tools: z.array(Tool).max(128).default([]),
  contextStrategy: z.string().min(1).max(100).optional(),
  strategyOptions: z.record(z.string(), z.unknown()).default({}),
  budget: z.strictObject({ contextLimit: z.number().optional(), reservedForReply: z.number().optional() }).default({}),
  seed: z.string().min(1).max(200).optional(),
  personaId: publicId("persona").optional(),
  lorebookIds: z.array(publicId("lorebook")).max(100).optional(),
  assembly: AssemblyPromise.optional(),
};

/** Each scalar of a generation's metadata is a row of its own to filter by. */
const MOST_METADATA = 100;

/** What becomes of a turn whose chat has an active generation: refused, put behind it, or put in its place. */
const ON_BUSY = ["reject", "queue", "supersede"] as const;
export type OnBusy = (typeof ON_BUSY)[number];

/** 1 = first, 9 = last, among the tenant's own generations. */
const PRIORITY = { first: 1, last: 9, default: 5 } as const;

/** Body of `POST /chats/:chatId/generations`. */
export const CreateGeneration = z.strictObject({
  ...turnFields,
  onBusy: z.enum(ON_BUSY).default("reject"),
  priority: z.number().int().min(PRIORITY.first).max(PRIORITY.last).default(PRIORITY.default),
  metadata: Metadata.refine((given) => Object.keys(given).length <= MOST_METADATA, {
    message: `must have at most ${MOST_METADATA} keys`,
  }).default({}),
  deadlineMs: z.number().int().min(DEADLINE_MS.least).max(DEADLINE_MS.most).default(DEADLINE_MS.default),
});
export type CreateGeneration = z.infer<typeof CreateGeneration>;
export type Turn = Omit<CreateGeneration, "onBusy" | "priority" | "metadata" | "deadlineMs">;

/** Body of `POST /generations/:generationId/cancel`. */
export const CancelGeneration = z.strictObject({ reason: z.string().max(1000).optional() }).default({});

/**
 * Body of `POST /generations/:generationId/retry`. `rebuild`: today's data, a new clock, the same seed. `replay`: the
 * request in its audit, sent unchanged.
 */
export const RetryGeneration = z
  .strictObject({ mode: z.enum(["rebuild", "replay"]).default("rebuild") })
  .default({ mode: "rebuild" });
export type RetryMode = z.infer<typeof RetryGeneration>["mode"];

/** Longest a caller can have an answer held back until a generation has ended, in seconds. */
export const LONGEST_WAIT_SECONDS = 60;

export const GenerationWaitQuery = z.strictObject({
  /** Seconds to wait for its end before answering. */
  wait: z.coerce.number().int().min(0).max(LONGEST_WAIT_SECONDS).optional(),
});

const StageObject = z.object({
  name: z.string(),
  ms: z.number(),
  blocksIn: z.number().int(),
  blocksOut: z.number().int(),
  tokensIn: z.number().nullable(),
  tokensOut: z.number().nullable(),
});

const UsageObject = z.object({
  inputTokens: z.number().int().nullable(),
  outputTokens: z.number().int().nullable(),
  cacheReadTokens: z.number().int().nullable(),
});

const TargetObject = z.object({
  index: z.number().int(),
  providerId: publicId("provider"),
  model: z.string(),
  status: z.string(),
  messageId: publicId("message").nullable(),
  usage: UsageObject,
  finishReason: z.string().nullable(),
  error: GenerationProblem.nullable(),
});

/** A generation. `cancelling` = running with a cancel accepted; times in milliseconds. */
export const GenerationObject = z.object({
  id: publicId("generation"),
  object: z.literal("generation"),
  /** `null` once the chat is deleted. */
  chatId: publicId("chat").nullable(),
  status: z.enum([...GENERATION_STATUSES, "cancelling"]),
  action: z.enum(ACTIONS),
  model: z.string(),
  provider: z.object({ id: publicId("provider"), kind: z.string() }),
  seed: z.string(),
  createdAt: Timestamp,
  startedAt: Timestamp.nullable(),
  firstTokenAt: Timestamp.nullable(),
  finishedAt: Timestamp.nullable(),
  deadlineAt: Timestamp,
  queue: z.object({
    name: z.string(),
    /**
     * Place in the tenant's line, 1 = next, 1,000 = there or further back; `null` = it does not stand in the line, or nobody
     * counted: only reading a single generation does.
     */
    position: z.number().int().nullable(),
    waitMs: z.number(),
    attempt: z.number().int(),
    maxAttempts: z.number().int(),
    nextAttemptAt: Timestamp.nullable(),
    /** 1 = first, 9 = last, among the tenant's own. */
    priority: z.number().int(),
    /** The generation of the same chat it waits for; `null` = none. */
    blockedBy: publicId("generation").nullable(),
  }),
  timings: z.object({
    queueMs: z.number().nullable(),
    pipelineMs: z.number().nullable(),
    stages: z.array(StageObject),
    ttftMs: z.number().nullable(),
    generateMs: z.number().nullable(),
  }),
  context: z
    .object({
      strategy: z.string(),
      contextLimit: z.number().int(),
      reservedForReply: z.number().int(),
      promptTokens: z.number().int().nullable(),
      tokenizer: TokenizerFacts,
      /** Reported input tokens to `promptTokens`; `null` when either is not known, or part of them came from a cache. */
      driftRatio: z.number().nullable(),
      included: z.number().int(),
      excluded: z.number().int(),
      summarised: z.number().int(),
      truncated: z.number().int(),
      assemblyHash: z.string().nullable(),
      auditAvailable: z.boolean(),
    })
    .nullable(),
  usage: UsageObject,
  finishReason: z.string().nullable(),
  inputMessageId: publicId("message").nullable(),
  /** The reply that a regenerate or a swipe stands beside. */
  targetMessageId: publicId("message").nullable(),
  messageId: publicId("message").nullable(),
  targets: z.array(TargetObject),
  error: GenerationProblem.nullable(),
  retryOf: publicId("generation").nullable(),
  metadata: Metadata.nullable(),
  requestId: z.string().nullable(),
});
export type GenerationObject = z.infer<typeof GenerationObject>;

/** An item of a list; it names its tenant where the list goes across tenants. */
export const ListedGeneration = GenerationObject.extend({ tenantId: publicId("tenant").optional() });
