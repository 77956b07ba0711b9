import { encodeId, type TokenizerObject } from "@shiftwork/contracts";
import type { TokenizerRow } from "@shiftwork/db";
import { familiesOfModels, PROFILES, type Profile } from "@shiftwork/pipeline";

/** A tokenizer of the tenant's. Its file never changes, so it has one version. */
export function tokenizerObject({ id, name, models, sizeBytes, createdAt }: TokenizerRow): TokenizerObject {
  return {
    id: encodeId("tokenizer", id),
    object: "tokenizer",
    builtIn: false,
    name,
    version: 1,
    approximate: false,
    families: [...familiesOfModels(models)],
    models: [...models],
    sizeBytes,
    createdAt: createdAt.toISOString(),
  };
}

/** The built-in profiles, in the order in which they are asked for a model. */
export const BUILT_IN_TOKENIZERS: readonly TokenizerObject[] = Object.values<Profile>(PROFILES).map(
  ({ id, version, approximate, families }) => ({
    id,
    object: "tokenizer",
    builtIn: true,
    name: id,
    version,
    approximate,
    families: [...families],
    models: null,
    sizeBytes: null,
    createdAt: null,
  }),
);
