import { z } from "zod";
import type { EventType } from "../events.ts";
import { publicId, Timestamp } from "./fields.ts";
import { GenerationProblem } from "./problem-details.ts";
import { TokenizerFacts } from "./tokenizers.ts";

const base = { seq: z.number().int(), generationId: publicId("generation") };
const tokens = z.number().int().nullable();

const terminal = {
  ...base,
  status: z.enum(["completed", "failed", "cancelled"]),
  messageId: publicId("message").nullable(),
  finishReason: z.string().nullable(),
  usage: z.object({ inputTokens: tokens, outputTokens: tokens }),
  error: GenerationProblem.nullable(),
};

const schemas = {
  "generation.queued": z.object({
    type: z.literal("generation.queued"),
    ...base,
    position: z.number().int().nullable(),
  }),
  "generation.started": z.object({
    type: z.literal("generation.started"),
    ...base,
    attempt: z.number().int(),
    worker: z.string(),
  }),
  "context.prepared": z.object({
    type: z.literal("context.prepared"),
    ...base,
    strategy: z.string(),
    tokenizer: TokenizerFacts,
    contextLimit: z.number().int(),
    reservedForReply: z.number().int(),
    promptTokens: z.number().int(),
    included: z.number().int(),
    excluded: z.number().int(),
    topExclusions: z.array(z.object({ reason: z.string(), count: z.number().int() })),
  }),
  "message.delta": z.object({
    type: z.literal("message.delta"),
    ...base,
    delta: z.string(),
    index: z.number().int().describe("Offset of the delta in the reply, in UTF-16 code units."),
  }),
  "message.reasoning.delta": z.object({ type: z.literal("message.reasoning.delta"), ...base, delta: z.string() }),
  "tool.call": z.object({
    type: z.literal("tool.call"),
    ...base,
    index: z.number().int(),
    id: z.string(),
    name: z.string(),
    argumentsDelta: z.string(),
  }),
  "generation.retrying": z.object({
    type: z.literal("generation.retrying"),
    ...base,
    attempt: z.number().int(),
    errorCode: z.string().nullable(),
    nextAttemptAt: Timestamp.nullable(),
    resetOutput: z.boolean().describe("Throw away what was streamed; the reply starts again at index 0."),
  }),
  "usage.updated": z.object({
    type: z.literal("usage.updated"),
    ...base,
    inputTokens: tokens,
    outputTokens: tokens,
  }),
  "generation.completed": z.object({ type: z.literal("generation.completed"), ...terminal }),
  "generation.failed": z.object({ type: z.literal("generation.failed"), ...terminal }),
  "generation.cancelled": z.object({ type: z.literal("generation.cancelled"), ...terminal }),
} satisfies { readonly [Type in EventType]: z.ZodObject };

/** Events `from` to `to` are not available any more; fetch the generation to see what came of it. */
const StreamGap = z.object({
  type: z.literal("stream.gap"),
  ...base,
  from: z.number().int(),
  to: z.number().int(),
});

/** The data line of every event of a generation's stream, by `type`. Clients must ignore names they do not know. */
export const GenerationStreamEvent = z.discriminatedUnion("type", [
  schemas["generation.queued"],
  schemas["generation.started"],
  schemas["context.prepared"],
  schemas["message.delta"],
  schemas["message.reasoning.delta"],
  schemas["tool.call"],
  schemas["generation.retrying"],
  schemas["usage.updated"],
  schemas["generation.completed"],
  schemas["generation.failed"],
  schemas["generation.cancelled"],
  StreamGap,
]);
export type GenerationStreamEvent = z.infer<typeof GenerationStreamEvent>;
