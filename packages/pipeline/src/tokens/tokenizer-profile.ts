import { FAMILIES, familyOf, type FamilyName } from "./families.ts";
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
  const countText = createTokenizerCounter(compiled);
  return {
    id,
    version,
    approximate: false,
    families: familiesOfModels(models),
    framing: framing ?? framingOf(bareModelName(models[0] ?? "")),
    matches: (model) => countsForModel(models, model),
    countText,
  };
}

/** Whether one of the patterns stands for the model; case and a vendor path do not matter. */
export function countsForModel(patterns: readonly string[], model: string): boolean {
  const name = bareModelName(model);
  return patterns.some((pattern) => matchesModel(bareModelName(pattern), name));
}

/** The families that names or patterns of models belong to, as far as they are known. */
export function familiesOfModels(models: readonly string[]): readonly FamilyName[] {
  return [...new Set(models.map((model) => familyOf(bareModelName(model))).filter((family) => family !== null))];
}

function framingOf(model: string): Framing {
  const family = familyOf(model);
  return family === null ? OPENAI_FRAMING : FAMILIES[family].framing;
}
