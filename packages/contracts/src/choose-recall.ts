import type { RecallSetting } from "./http/recall.ts";

/** A level that may have chosen. */
interface RecallLevel {
  readonly recall?: RecallSetting | undefined;
}

const DEFAULT: RecallSetting = { provider: "hash-ngram-1024" };

/** Whose vectors a chat recalls by: its own choice, its character's, its tenant's, else the built-in ones. */
export function chooseRecall(levels: {
  readonly chat: RecallLevel;
  readonly character: RecallLevel;
  readonly tenant: RecallLevel;
}): RecallSetting {
  return levels.chat.recall ?? levels.character.recall ?? levels.tenant.recall ?? DEFAULT;
}
