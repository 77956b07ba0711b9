import { crc32 } from "node:zlib";
import { ImportError } from "../errors.ts";

/** One chunk of a PNG; `data` is a view into the file. */
export interface PngChunk {
  readonly type: string;
  readonly data: Uint8Array;
}

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
/** Length, type and checksum around the data of every chunk (PNG specification §5.3). */
const FRAME_BYTES = 12;

/** True when the bytes begin as every PNG and APNG does. */
export function isPng(bytes: Uint8Array): boolean {
  return SIGNATURE.every((byte, index) => bytes[index] === byte);
}

/**
 * The chunks up to IEND; what follows is ignored. Nothing is copied, so a claimed length costs nothing.
 *
 * @throws ImportError `png_damaged` for a wrong signature, length or checksum, or a missing IEND.
 */
export function readPngChunks(bytes: Uint8Array): readonly PngChunk[] {
  if (!isPng(bytes)) throw damaged("it does not begin as a PNG");
  const chunks: PngChunk[] = [];
  let at = SIGNATURE.length;
  while (bytes.length - at >= FRAME_BYTES) {
    const chunk = readChunk(bytes, at);
    if (chunk.type === "IEND") return chunks;
    chunks.push(chunk);
    at += chunk.data.length + FRAME_BYTES;
  }
  throw damaged("it ends before its end chunk");
}

function readChunk(bytes: Uint8Array, at: number): PngChunk {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, bytes.length - at);
  const length = view.getUint32(0);
  if (length > view.byteLength - FRAME_BYTES) throw damaged("a chunk is longer than the file");
  const typeAndData = bytes.subarray(at + 4, at + 8 + length);
  if (crc32(typeAndData) !== view.getUint32(8 + length)) throw damaged("a checksum does not match");
  return { type: Buffer.from(typeAndData.subarray(0, 4)).toString("latin1"), data: typeAndData.subarray(4) };
}

function damaged(what: string): ImportError {
  return new ImportError("png_damaged", `The PNG is damaged: ${what}.`, "Download or export the picture again.");
}
