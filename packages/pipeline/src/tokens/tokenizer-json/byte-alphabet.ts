const HIGHEST_BYTE = 0xff;

/** A byte that no character stands for. */
export const NO_BYTE = -1;

// Byte-level BPE writes a byte as the character of its number where that can be seen, and the others, in their order, as
// the characters from U+0100 on. Source: `bytes_to_unicode` of GPT-2.
const BYTES = bytesOfCharacters();

/** The byte that a character of a byte-level vocabulary stands for, or `NO_BYTE`. */
export function byteOf(code: number): number {
  return BYTES[code] ?? NO_BYTE;
}

function bytesOfCharacters(): Int16Array {
  const hidden = Array.from({ length: HIGHEST_BYTE + 1 }, (_, byte) => byte).filter((byte) => !isVisible(byte));
  const bytes = new Int16Array(HIGHEST_BYTE + 1 + hidden.length).fill(NO_BYTE);
  for (let byte = 0; byte <= HIGHEST_BYTE; byte += 1) if (isVisible(byte)) bytes[byte] = byte;
  for (const [place, byte] of hidden.entries()) bytes[HIGHEST_BYTE + 1 + place] = byte;
  return bytes;
}

function isVisible(byte: number): boolean {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad);
}
