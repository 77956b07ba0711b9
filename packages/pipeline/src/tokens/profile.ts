import type { Calibration } from "./calibration.ts";
import type { Framing } from "./framing.ts";

/** A named tokenizer with its message framing. `approximate` is shown wherever a count is. */
export interface Profile {
  /** e.g. `openai:o200k_base`. */
  readonly id: string;
  /** Raised when counts change, so stored counts can be told apart. */
  readonly version: number;
  readonly approximate: boolean;
  /** What an estimate was multiplied by, so that it comes to what the provider reports; absent = nothing. */
  readonly calibration?: Calibration;
  /** Models that are counted by it, in the words of `GET /tokenizers`; empty = any. */
  readonly families: readonly string[];
  readonly framing: Framing;
  /** `model` in lower case, without a vendor path (`openai/gpt-4o` → `gpt-4o`). */
  matches(model: string): boolean;
  /** Tokens of plain text, without framing. Never throws. */
  countText(text: string): number;
}
