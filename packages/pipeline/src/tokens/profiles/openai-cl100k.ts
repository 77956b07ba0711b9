import { countEncoded } from "../encoder.ts";
import { OPENAI_FRAMING } from "../framing.ts";
import type { Profile } from "../profile.ts";

const MODELS = /^(ft:)?(gpt-4(-|$)|gpt-3\.5|gpt-35)/;

/** Exact for gpt-4, gpt-4-turbo and gpt-3.5 (also under Azure's spelling). */
export const openaiCl100k: Profile = {
  id: "openai:cl100k_base",
  version: 2,
  approximate: false,
  families: ["gpt-4", "gpt-3.5"],
  framing: OPENAI_FRAMING,
  matches: (model) => MODELS.test(model),
  countText: (text) => countEncoded("cl100k_base", text),
};
