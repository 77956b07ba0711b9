/** The strings around one turn. */
export interface TurnSequences {
  readonly prefix: string;
  /** With its own newline; empty = a newline when the format wraps. */
  readonly suffix: string;
}

/**
 * How a text-completion model was taught to tell turns apart: data, no code. Source of the fields: the instruct presets
 * of SillyTavern, as far as ChatML and its relatives use them.
 */
export interface InstructFormat {
  readonly id: string;
  readonly user: TurnSequences;
  readonly assistant: TurnSequences;
  readonly system: TurnSequences;
  /** A newline stands between a prefix and the text. */
  readonly wrap: boolean;
  /**
   * When a turn's text begins with `Name: `: `none` never, `always` for every user and assistant turn, `force` only for
   * speakers that the role does not tell (others than the chat's user and character, and example dialogues).
   */
  readonly names: "none" | "force" | "always";
  /** What ends the reply, beside the opening of another turn. */
  readonly stop: readonly string[];
  /** What the model reads as structure. In a text they are put out of action, whoever wrote it. */
  readonly controlTexts: readonly string[];
}
