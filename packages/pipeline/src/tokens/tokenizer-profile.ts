import { FAMILIES, familyOf } from "./families.ts";
import { OPENAI_FRAMING, type Framing } from "./framing.ts";
import type { Profile } from "./profile.ts";
import { bareModelName } from "./profiles.ts";
import { matchesModel } from "./model-pattern.ts";
import { createTokenizerCounter, readTokenizer, type CompiledTokenizer } from "./tokenizer-json/compile-tokenizer.ts";

/** A tokenizer that its user supplies. */
export interface SuppliedTokenizer {
  /** e.g. `tokenizer:qwen3`; must differ from those of `PROFILES`. */
  readonly id: string;
  /** Raised with every new file, so that stored counts can be told apart. */
  readonly version: number;
  /** Names of the models it counts for, or patterns with `*` (`matchesModel`); case and a vendor path do not matter. */
  readonly models: readonly string[];
  /** The parsed `tokenizer.json`. */
  readonly file: unknown;
  /** What its chat format costs around the text. Default: that of the first model's family, else OpenAI's. */
  readonly framing?: Framing;
}

/** An exact profile from a `tokenizer.json`, compiled at once: keep it. Throws `TokenizerError` as `compileTokenizer` does. */
export function tokenizerProfile({ file, ...tokenizer }: SuppliedTokenizer): Profile {
  return profileOfTokenizer(tokenizer, readTokenizer(file));
}

/** As `tokenizerProfile`, of a file that was compiled already. */
export function profileOfTokenizer(
  { id, version, models, framing }: Omit<SuppliedTokenizer, "file">,
  compiled: CompiledTokenizer,
): Profile {
  const names = models.map(bareModelName);
  const countText = createTokenizerCounter(compiled);
  return {
    id,
    version,
    approximate: false,
    families: familiesOf(names),
    framing: framing ?? framingOf(names[0] ?? ""),
    matches: (model) => names.some((name) => matchesModel(name, model)),
    countText,
  };
}

function familiesOf(names: readonly string[]): readonly string[] {
  return [...new Set(names.map(familyOf).filter((family) => family !== null))];
}

function framingOf(model: string): Framing {
  const family = familyOf(model);
  return family === null ? OPENAI_FRAMING : FAMILIES[family].framing;
}
