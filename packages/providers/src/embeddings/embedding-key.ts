import { createHash } from "node:crypto";
import { normalisedText } from "@shiftwork/pipeline";
import type { EmbeddingProvider } from "./embedding-provider.ts";

/** Under which a text's vector is stored: SHA-256, 32 bytes. Another provider, version or length is another vector. */
export function embeddingKey(
  { id, version = "", dims }: Pick<EmbeddingProvider, "id" | "version" | "dims">,
  text: string,
): Buffer {
  return createHash("sha256")
    .update(JSON.stringify([id, version, dims, normalisedText(text)]))
    .digest();
}
