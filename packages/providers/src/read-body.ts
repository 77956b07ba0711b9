export interface Body {
  readonly text: string;
  /** There was more than the limit; `text` is its beginning. */
  readonly isCut: boolean;
}

/** Reads a body up to `limitBytes`, then stops reading. Throws what `chunks` throws. */
export async function readBody(chunks: AsyncIterable<Uint8Array>, limitBytes: number): Promise<Body> {
  const decoder = new TextDecoder();
  let text = "";
  let left = limitBytes;
  for await (const chunk of chunks) {
    text += decoder.decode(chunk.subarray(0, left), { stream: true });
    left -= chunk.length;
    if (left < 0) return { text, isCut: true };
  }
  return { text: text + decoder.decode(), isCut: false };
}
