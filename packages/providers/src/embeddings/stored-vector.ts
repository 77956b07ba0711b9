import { endianness } from "node:os";

const IS_LITTLE_ENDIAN = endianness() === "LE";

/** A vector as it is stored: float32, little-endian. */
export function toStored(vector: Float32Array): Buffer {
  const bytes = Buffer.from(Uint8Array.from(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)));
  return IS_LITTLE_ENDIAN ? bytes : bytes.swap32();
}

/** A stored vector; the bytes are copied, since a driver's buffer may stand at any offset. */
export function fromStored(bytes: Uint8Array): Float32Array {
  const copy = Buffer.from(Uint8Array.from(bytes).buffer);
  if (!IS_LITTLE_ENDIAN) copy.swap32();
  return new Float32Array(copy.buffer, copy.byteOffset, Math.floor(copy.byteLength / 4));
}
