/** What a wire format costs around the text, in tokens. */
export interface Framing {
  /** Around every message. */
  readonly perMessage: number;
  /** Added when a message carries a name. */
  readonly perName: number;
  /** Once per request: the reply's own opening. */
  readonly priming: number;
  /** Around each tool call, beside its id, name and arguments. */
  readonly toolCall: number;
  /** Around each tool result's call id. */
  readonly toolResult: number;
  /** Around each tool definition, beside its JSON. */
  readonly toolDefinition: number;
}

/**
 * OpenAI chat framing: 3 per message + role + content (+ 1 + name) + 3 priming. Source: "How to count tokens with
 * tiktoken", OpenAI cookbook; names come out up to 2 too high, the safe side. Tool framing is not published and errs high.
 */
export const OPENAI_FRAMING: Framing = {
  perMessage: 3,
  perName: 1,
  priming: 3,
  toolCall: 4,
  toolResult: 1,
  toolDefinition: 8,
};

/** ChatML (Qwen): `<|im_start|>role\n…<|im_end|>\n`, and the reply's own opening. Tools as OpenAI's, which errs high. */
export const CHATML_FRAMING: Framing = { ...OPENAI_FRAMING, perMessage: 4 };

/**
 * Llama 3: `<|start_header_id|>role<|end_header_id|>\n\n…<|eot_id|>`; once `<|begin_of_text|>` and the reply's header.
 */
export const LLAMA_FRAMING: Framing = { ...OPENAI_FRAMING, perMessage: 4, priming: 5 };
