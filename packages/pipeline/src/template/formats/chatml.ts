import type { InstructFormat } from "../instruct-format.ts";

/** ChatML as OpenAI published it and Qwen, Hermes and many fine-tunes use it; the whole vocabulary of its marks. */
export const chatml = {
  id: "chatml",
  user: { prefix: "<|im_start|>user", suffix: "<|im_end|>\n" },
  assistant: { prefix: "<|im_start|>assistant", suffix: "<|im_end|>\n" },
  system: { prefix: "<|im_start|>system", suffix: "<|im_end|>\n" },
  wrap: true,
  names: "force",
  stop: ["<|im_end|>"],
  controlTexts: ["<|im_start|>", "<|im_end|>", "<|im_sep|>", "<|endoftext|>"],
} as const satisfies InstructFormat;
