import { FAMILIES, familyOf } from "./families.ts";
import { OPENAI_FRAMING, type Framing } from "./framing.ts";
import type { Profile } from "./profile.ts";
import { bareModelName } from "./profiles.ts";
import { compileTokenizer } from "./tokenizer-json/compile-tokenizer.ts";

/** A tokenizer that its user supplies. */
export interface SuppliedTokenizer {
  /** e.g. `tokenizer:qwen3`; must differ from those of `PROFILES`. */
  readonly id: string;
  /** Raised with every new file, so that stored counts can be told apart. */
  readonly version: number;
  /** Names of the models it counts for; case and a vendor path do not matter. */
  readonly models: readonly string[];
  /** The parsed `tokenizer.json`. */
  readonly file: unknown;
  /** What its chat format costs around the text. Default: that of the first model's family, else OpenAI's. */
  readonly framing?: Framing;
}

/** An exact profile from a `tokenizer.json`, compiled at once: keep it. Throws `TokenizerError` as `compileTokenizer` does. */
export function tokenizerProfile({ id, version, models, file, framing }: SuppliedTokenizer): Profile {
  const names = models.map(bareModelName);
  const countText = compileTokenizer(file);
  return {
    id,
    version,
    approximate: false,
    framing: framing ?? framingOf(names[0] ?? ""),
    matches: (model) => names.includes(model),
    countText: (text) => countText(text),
  };
}

function framingOf(model: string): Framing {
  const family = familyOf(model);
  return family === null ? OPENAI_FRAMING : FAMILIES[family].framing;
}
