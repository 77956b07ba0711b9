import { CALIBRATION_FACTOR, ROLES } from "@shiftwork/pipeline";
import { z } from "zod";
import { Name, Text, Timestamp } from "./fields.ts";

/** What estimates were multiplied by, so that they come to what the provider reports. */
export const Calibration = z.strictObject({
  version: z.number().int().min(0),
  factor: z.number().min(CALIBRATION_FACTOR.least).max(CALIBRATION_FACTOR.most),
});

/** What counted: a profile of `GET /tokenizers`, and its calibration, if it has one. */
export const TokenizerFacts = z.object({
  profile: z.string(),
  approximate: z.boolean(),
  calibration: Calibration.optional(),
});

/** Patterns of models a tokenizer counts for, at most. */
const MOST_PATTERNS = 50;
const PATTERN = "[^,]{1,200}";

/** Form fields beside the file of `POST /tokenizers`. */
export const TokenizerFields = z.strictObject({
  name: Name,
  /** Names of the models it counts for, separated by commas; `*` = anything. Case and a vendor path do not matter. */
  models: z
    .string()
    .regex(
      new RegExp(`^${PATTERN}(,${PATTERN}){0,${MOST_PATTERNS - 1}}$`),
      `must be 1 to ${MOST_PATTERNS} names of models, separated by commas`,
    ),
});
export type TokenizerFields = z.infer<typeof TokenizerFields>;

/** The whole form of `POST /tokenizers`, for documentation: the file is a `tokenizer.json`. */
export const TokenizerUpload = TokenizerFields.extend({ file: z.string().meta({ format: "binary" }) });

/** A profile that counts: a built-in one, or a tokenizer of the tenant's. */
export const TokenizerObject = z.object({
  id: z.string(),
  object: z.literal("tokenizer"),
  builtIn: z.boolean(),
  name: z.string(),
  version: z.number().int(),
  /** Its counts are estimates, which err high. */
  approximate: z.boolean(),
  /** Families of models that are counted by it; empty = any. */
  families: z.array(z.string()),
  /** Patterns of the models a tenant's tokenizer counts for; `null` = built in. */
  models: z.array(z.string()).nullable(),
  sizeBytes: z.number().int().nullable(),
  createdAt: Timestamp.nullable(),
});
export type TokenizerObject = z.infer<typeof TokenizerObject>;

/** Messages of one request to count, at most. */
const MOST_MESSAGES = 10_000;

const CountedMessage = z.strictObject({
  role: z.enum(ROLES),
  content: Text,
  name: z.string().min(1).max(500).optional(),
});

/** Body of `POST /tokenize`: by a model's name or a tokenizer's id, a text or messages. */
export const Tokenize = z
  .strictObject({
    model: z.string().min(1).max(200).optional(),
    tokenizer: z.string().min(1).max(200).optional(),
    text: Text.optional(),
    messages: z.array(CountedMessage).max(MOST_MESSAGES).optional(),
  })
  .superRefine(({ model, tokenizer, text, messages }, context) => {
    const either = (first: string, second: string, isBoth: boolean): void =>
      context.addIssue({
        code: "custom",
        path: [isBoth ? second : first],
        message: `give either ${first} or ${second}`,
      });
    if ((model === undefined) === (tokenizer === undefined)) either("model", "tokenizer", model !== undefined);
    if ((text === undefined) === (messages === undefined)) either("text", "messages", text !== undefined);
  });
export type Tokenize = z.infer<typeof Tokenize>;

export const TokenCount = z.object({
  object: z.literal("token_count"),
  /** Of a text without framing; of messages as a whole request, its priming included. */
  tokens: z.number().int(),
  /** Each message's, framing included; `null` = a text was counted. */
  messageTokens: z.array(z.number().int()).nullable(),
  /** Id of what counted. */
  profile: z.string(),
  version: z.number().int(),
  approximate: z.boolean(),
});
export type TokenCount = z.infer<typeof TokenCount>;
