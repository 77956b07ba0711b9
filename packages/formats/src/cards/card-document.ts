import { ImportError } from "../errors.ts";
import { parseJson } from "../json/parse-json.ts";
import type { WarningCollector } from "../warnings.ts";
import { decodeBase64 } from "./decode-base64.ts";
import { detectCardSpec, type CardDocument } from "./card-spec.ts";
import { isPng, readPngChunks } from "./png-chunks.ts";
import { readTextChunk, type TextChunk } from "./text-chunk.ts";

/** In the order they are tried (card specification V3: `ccv3` has priority). */
const CARD_KEYWORDS = ["ccv3", "chara"] as const;
const ASSET_KEYWORD = "chara-ext-asset_";

/**
 * The card in a PNG or a JSON file, recognised.
 *
 * @throws ImportError as `readCard` lists them.
 */
export function readCardDocument(bytes: Uint8Array, warnings: WarningCollector): CardDocument {
  if (!isPng(bytes)) return detectCardSpec(parseJson(bytes, warnings), warnings);
  const texts = readPngChunks(bytes).flatMap((chunk) => readTextChunk(chunk) ?? []);
  warnOfAssets(texts, warnings);
  const candidates = CARD_KEYWORDS.flatMap((keyword) => firstOf(texts, keyword, warnings) ?? []);
  return readFirstReadable(candidates, warnings);
}

function firstOf(texts: readonly TextChunk[], keyword: string, warnings: WarningCollector): TextChunk | null {
  const [first, ...others] = texts.filter((text) => text.keyword.toLowerCase() === keyword);
  if (others.length > 0) {
    const message = `The picture holds ${others.length + 1} ${keyword} chunks; the first one was read.`;
    warnings.add("chunk_duplicate", message);
  }
  return first ?? null;
}

function readFirstReadable(candidates: readonly TextChunk[], warnings: WarningCollector): CardDocument {
  let firstError: unknown = null;
  for (const candidate of candidates) {
    try {
      return detectCardSpec(parseJson(decodeBase64(candidate.unpack()), warnings), warnings);
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      firstError ??= error;
      if (candidate !== candidates.at(-1)) {
        warnings.add("chunk_fallback", `The ${candidate.keyword} chunk could not be read: ${error.message}`);
      }
    }
  }
  throw firstError ?? cardMissing();
}

function cardMissing(): ImportError {
  const message = "The picture holds no character card: it has no ccv3 and no chara text chunk.";
  const fix = "Send the original card file; image hosts and editors often strip the card.";
  return new ImportError("card_missing", message, fix);
}

function warnOfAssets(texts: readonly TextChunk[], warnings: WarningCollector): void {
  const count = texts.filter((text) => text.keyword.startsWith(ASSET_KEYWORD)).length;
  if (count > 0) warnings.add("feature_unsupported", `${count} asset files inside the picture were not imported.`);
}
