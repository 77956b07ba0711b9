import { countMessage, createCounter } from "../tokens/counter.ts";
import { profileFor } from "../tokens/profiles.ts";
import { toWireMessage } from "../wire/openai-chat.ts";
import { countOtherParts, toBlock, type ContextMessage } from "./context-message.ts";

/** What an image or another part without text is counted as: OpenAI's dearest, 85 + 8 tiles of 170 tokens. */
const OTHER_PART_TOKENS = 1_445;

/** A counter to give to `shiftContext`. */
export interface TokenCounter {
  /** The whole cost of a message: framing, name, text, calls. */
  readonly countTokens: (message: ContextMessage) => number;
  /** Once per request; goes into `overheadTokens`. */
  readonly primingTokens: number;
  /** Whether the model's tokenizer is only estimated; then leave a margin. */
  readonly approximate: boolean;
}

/** Counts for a model by its name: exact for OpenAI's, an estimate that errs high for others. Texts are counted once. */
export function tokenCounterFor(model: string): TokenCounter {
  const profile = profileFor(model);
  const { countText } = createCounter(profile);
  return {
    countTokens(message) {
      const block = toBlock(message, { id: "", index: 0, isInput: false, required: false, groupId: null });
      return (
        countMessage(profile, toWireMessage(block).message, countText) + OTHER_PART_TOKENS * countOtherParts(message)
      );
    },
    primingTokens: profile.framing.priming,
    approximate: profile.approximate,
  };
}
