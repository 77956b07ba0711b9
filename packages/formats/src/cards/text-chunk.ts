import { inflateSync } from "node:zlib";
import { ImportError } from "../errors.ts";
import { IMPORT_LIMITS, limitExceeded, requireWithin } from "../limits.ts";
import type { PngChunk } from "./png-chunks.ts";

/** A text chunk of a PNG: its keyword, and its text still packed until someone asks. */
export interface TextChunk {
  readonly keyword: string;
  /**
   * The value's bytes.
   *
   * @throws ImportError `limit_exceeded` above `chunkTextBytes`, before the bytes exist; `card_encoding` when the
   * compressed data is broken.
   */
  unpack(): Uint8Array;
}

/** Reads tEXt, zTXt and iTXt (PNG specification §11.3.4); `null` for other chunks and for those without a keyword. */
export function readTextChunk(chunk: PngChunk): TextChunk | null {
  if (chunk.type !== "tEXt" && chunk.type !== "zTXt" && chunk.type !== "iTXt") return null;
  const end = chunk.data.indexOf(0);
  if (end < 1) return null;
  const keyword = Buffer.from(chunk.data.subarray(0, end)).toString("latin1");
  const rest = chunk.data.subarray(end + 1);
  return { keyword, unpack: () => unpackText(chunk.type, rest) };
}

function unpackText(type: string, rest: Uint8Array): Uint8Array {
  if (type === "tEXt") return plain(rest);
  if (type === "zTXt") return inflate(rest.subarray(1));
  const text = afterZero(afterZero(rest.subarray(2)));
  return rest[0] === 1 ? inflate(text) : plain(text);
}

/** Behind the language tag, then behind the translated keyword of an iTXt chunk. */
function afterZero(bytes: Uint8Array): Uint8Array {
  const zero = bytes.indexOf(0);
  return zero === -1 ? bytes.subarray(bytes.length) : bytes.subarray(zero + 1);
}

function plain(bytes: Uint8Array): Uint8Array {
  requireWithin("chunkTextBytes", bytes.length);
  return bytes;
}

function inflate(bytes: Uint8Array): Uint8Array {
  try {
    return inflateSync(bytes, { maxOutputLength: IMPORT_LIMITS.chunkTextBytes });
  } catch (error) {
    if (error instanceof RangeError) throw limitExceeded("chunkTextBytes");
    throw new ImportError("card_encoding", "The compressed text of the picture is broken.", "Export the card again.");
  }
}
