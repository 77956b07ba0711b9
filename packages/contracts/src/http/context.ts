import { BLOCK_SOURCES, POST_PROCESSING, ROLES, STAGE_NAMES } from "@shiftwork/pipeline";
import { z } from "zod";
import { publicId, Timestamp } from "./fields.ts";
import { AssemblyPromise, turnFields } from "./generations.ts";
import { TokenizerFacts } from "./tokenizers.ts";
import { GenerationProblem } from "./problem-details.ts";

const tokens = z.number().int();

/** One considered block: included ones in sent order, then the left-out ones. `reason` codes are append-only. */
export const AuditBlockObject = z.object({
  order: z.number().int().nullable(),
  id: z.string(),
  source: z.enum(BLOCK_SOURCES),
  label: z.string(),
  name: z.string().nullable(),
  role: z.enum(ROLES),
  refId: z.string().nullable(),
  seq: z.number().int().nullable(),
  tokens: tokens.nullable(),
  tokensUpperBound: tokens.optional(),
  originalTokens: tokens.nullable(),
  included: z.boolean(),
  protected: z.boolean(),
  pinned: z.boolean(),
  relevance: z.number().nullable(),
  groupId: z.string().nullable(),
  reason: z.string(),
  reasonDetail: z.record(z.string(), z.unknown()).nullable(),
  stage: z.enum(STAGE_NAMES),
  /** Where the text stands, when the block is not a message of its own; `message: null` = in the prompt string. */
  sentAt: z.object({ message: z.number().int().nullable(), from: z.number().int(), to: z.number().int() }).optional(),
  content: z.string().optional(),
  toolCalls: z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() })).optional(),
  toolCallId: z.string().optional(),
});
export type AuditBlockObject = z.infer<typeof AuditBlockObject>;

const Counts = z.object({
  included: z.number().int(),
  excluded: z.number().int(),
  summarised: z.number().int(),
  truncated: z.number().int(),
});

const Budget = z.object({
  contextLimit: tokens,
  reservedForReply: tokens,
  margin: tokens,
  budgetTokens: tokens,
  promptTokens: tokens.nullable(),
  overheadTokens: tokens,
  caps: z.object({ lorebook: tokens, memory: tokens }),
});

const ShiftStepObject = z.object({
  step: z.number().int(),
  action: z.enum(["drop", "truncate", "summarize", "restore"]),
  blockIds: z.array(z.string()),
  tokensBefore: tokens,
  tokensAfter: tokens,
});

const Range = z.object({
  fromSeq: z.number().int(),
  toSeq: z.number().int(),
  count: z.number().int(),
  tokens: tokens.nullable(),
  reason: z.string(),
});

const DiagnosticObject = z.object({ code: z.string(), stage: z.string(), detail: z.record(z.string(), z.unknown()) });

const Stage = z.object({
  name: z.string(),
  ms: z.number(),
  blocksIn: z.number().int(),
  blocksOut: z.number().int(),
  tokensIn: z.number().nullable(),
  tokensOut: z.number().nullable(),
});

/** How blocks became a request; `format` only in text mode. */
const WireFacts = z.object({
  shape: z.enum(["chat", "text"]),
  format: z.string().nullable(),
  postProcessing: z.enum(POST_PROCESSING),
});
const Usage = z.object({
  estimated: z.object({ inputTokens: tokens.nullable() }),
  reported: z
    .object({
      inputTokens: tokens.nullable(),
      outputTokens: tokens.nullable(),
      cacheReadTokens: tokens.nullable(),
    })
    .nullable(),
  /** Reported input tokens to estimated ones; `null` when either is not known, or part of them came from a cache. */
  driftRatio: z.number().nullable(),
});
const ProviderPayload = z.record(z.string(), z.unknown());

/** One model the prompt went to. */
const AuditTarget = z.object({
  index: z.number().int(),
  /** Kind of the provider. */
  provider: z.string(),
  model: z.string(),
  tokenizer: TokenizerFacts,
  promptTokens: tokens.nullable(),
  providerRequest: ProviderPayload.nullable(),
  usage: Usage,
  status: z.string(),
  errorCode: z.string().nullable(),
  shared: z.boolean(),
});

/** What the model saw, what it did not see, and why. Without `audits:read_content` the texts are left out. */
export const PromptContextAudit = z.object({
  object: z.literal("prompt_context_audit"),
  generationId: publicId("generation"),
  chatId: publicId("chat"),
  attempt: z.number().int(),
  status: z.enum(["prepared", "completed", "failed", "cancelled"]),
  errorCode: z.string().nullable(),
  error: z.record(z.string(), z.unknown()).nullable(),
  createdAt: Timestamp,
  finishedAt: Timestamp.nullable(),
  /** Kind of the provider. */
  provider: z.string(),
  providerId: publicId("provider"),
  model: z.string(),
  strategy: z.string(),
  wire: WireFacts,
  tokenizer: TokenizerFacts,
  budget: Budget,
  blocks: z.array(AuditBlockObject),
  ranges: z.array(Range),
  counts: Counts,
  shiftSteps: z.array(ShiftStepObject),
  /** The body as sent, without credentials; `null` when none was made. */
  providerRequest: ProviderPayload.nullable(),
  /** Its messages, for display; of a text completion one entry with the `prompt`. */
  providerMessages: z.array(ProviderPayload),
  /** Requests of this attempt that the provider refused as too long before this one was sent, oldest first. */
  refusedRequests: z.array(ProviderPayload),
  diagnostics: z.array(DiagnosticObject),
  stages: z.array(Stage),
  usage: Usage,
  assemblyHash: z.string().nullable(),
  prefixHash: z.string().nullable(),
  targets: z.array(AuditTarget),
  omitted: z.object({ blocks: z.number().int(), diagnostics: z.number().int(), shiftSteps: z.number().int() }),
  contentRestricted: z.boolean(),
});
export type PromptContextAudit = z.infer<typeof PromptContextAudit>;

/** Answer of `GET /chats/:chatId/context-audit`. `pending`: a generation of the chat is queued or running. */
export const ChatContextAudit = z.object({
  audit: PromptContextAudit.nullable(),
  pending: z.object({ generationId: publicId("generation"), status: z.string() }).nullable(),
});
export type ChatContextAudit = z.infer<typeof ChatContextAudit>;

/** Parts of a preview that hold text and are sent only on request. */
export const PREVIEW_PARTS = ["content", "providerMessages"] as const;

/** What-ifs of one preview at most. */
const MOST_WHAT_IFS = 8;

/** The same assembly, shifted once more: another strategy, another window, or both. What is left out stays the turn's. */
const WhatIf = z.strictObject({
  contextStrategy: z.string().min(1).max(100).optional(),
  budget: turnFields.budget.unwrap().optional(),
});

/** Body of `POST /context-preview`: a turn that is not sent, in a chat, or the first one of a chat with a character. */
export const CreateContextPreview = z
  .strictObject({
    chatId: publicId("chat").optional(),
    characterId: publicId("character").optional(),
    ...turnFields,
    include: z.array(z.enum(PREVIEW_PARTS)).max(PREVIEW_PARTS.length).default([]),
    shifts: z.array(WhatIf).max(MOST_WHAT_IFS).default([]),
    /** Whether summaries may be written for it. Without, a needed one is a placeholder and `exact` is false. */
    modelCalls: z.boolean().default(false),
  })
  .superRefine(({ chatId, characterId }, context) => {
    if ((chatId === undefined) !== (characterId === undefined)) return;
    const message = "give either chatId or characterId";
    context.addIssue({ code: "custom", path: [chatId === undefined ? "chatId" : "characterId"], message });
  });
export type CreateContextPreview = z.infer<typeof CreateContextPreview>;

/** What one shift came to. */
const shifted = {
  fits: z.boolean(),
  strategy: z.string(),
  budget: Budget,
  counts: Counts,
  blocks: z.array(AuditBlockObject),
  ranges: z.array(Range),
  shiftSteps: z.array(ShiftStepObject),
  diagnostics: z.array(DiagnosticObject),
  /** How many there were beside those listed. */
  omitted: z.object({ shiftSteps: z.number().int(), diagnostics: z.number().int() }),
  /** False = the generation may differ: a summary is a placeholder (then there is no hash), or caps follow the budget. */
  exact: z.boolean(),
  error: GenerationProblem.optional(),
};

export const ContextPreview = z.object({
  object: z.literal("context_preview"),
  ...shifted,
  provider: z.object({ id: publicId("provider"), kind: z.string() }),
  model: z.string(),
  wire: WireFacts,
  tokenizer: TokenizerFacts,
  providerMessages: z.array(ProviderPayload).optional(),
  stages: z.array(Stage),
  assembly: AssemblyPromise,
  /** One per what-if asked for, in that order. */
  shifts: z.array(
    z.object({ ...shifted, contextStrategy: z.string(), assembly: z.object({ hash: AssemblyPromise.shape.hash }) }),
  ),
});
export type ContextPreview = z.infer<typeof ContextPreview>;
