/** A `tokenizer.json` that cannot be counted by exactly: names the field and what is wrong with it. */
export class TokenizerError extends Error {
  readonly code = "TOKENIZER_UNSUPPORTED";
  /** JSON Pointer into the file, e.g. `/model/byte_fallback`; empty = the file itself. */
  readonly pointer: string;
  /** What is wrong with it, as the end of a sentence that begins with it. */
  readonly problem: string;

  constructor(pointer: string, problem: string) {
    super(pointer === "" ? `The tokenizer ${problem}.` : `${pointer} ${problem}.`);
    this.name = "TokenizerError";
    this.pointer = pointer;
    this.problem = problem;
  }
}
