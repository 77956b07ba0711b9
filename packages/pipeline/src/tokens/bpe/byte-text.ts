/** Room behind every text, so that four bytes can be read at once wherever it ends. */
const PADDING = 4;
/** Up to here, in UTF-16 units, copying by hand is faster than calling the encoder. */
const SHORT = 48;

const encoder = new TextEncoder();

/** UTF-8 in a buffer: its bytes, and a view of the same memory for reading four of them at once. */
export interface ByteText {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

/** An empty buffer for texts of up to `capacity` bytes. */
export function createByteText(capacity: number): ByteText {
  const memory = new ArrayBuffer(capacity + PADDING);
  return { bytes: new Uint8Array(memory), view: new DataView(memory) };
}

/** UTF-8 bytes a text can have at most. */
export function mostBytes(text: string): number {
  return text.length * 3;
}

/** Writes a text from the buffer's beginning on and tells its length in bytes. A lone surrogate becomes U+FFFD. */
export function writeText(text: string, { bytes }: ByteText): number {
  if (text.length > SHORT) return encoder.encodeInto(text, bytes).written;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) return encoder.encodeInto(text, bytes).written;
    bytes[at] = code;
  }
  return text.length;
}
