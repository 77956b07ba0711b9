import { countEncoded } from "../encoder.ts";
import { OPENAI_FRAMING } from "../framing.ts";
import type { Profile } from "../profile.ts";

// `echo` is the built-in provider: it answers any text, so it is counted with an exact vocabulary.
const MODELS = /^(ft:)?(chatgpt-4o|gpt-4o|gpt-4\.1|gpt-4\.5|gpt-5|gpt-oss|o[1345](-|$)|codex|computer-use|echo)/;

/** Exact for gpt-4o, gpt-4.1, gpt-4.5, gpt-5, the o series and gpt-oss. */
export const openaiO200k: Profile = {
  id: "openai:o200k_base",
  version: 2,
  approximate: false,
  families: ["gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "o-series", "gpt-oss"],
  framing: OPENAI_FRAMING,
  matches: (model) => MODELS.test(model),
  countText: (text) => countEncoded("o200k_base", text),
};
