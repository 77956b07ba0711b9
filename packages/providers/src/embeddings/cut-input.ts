/** The beginning of a text that costs at most `maxTokens` in any byte-level vocabulary: no token is shorter than a byte. */
export function cutInput(text: string, maxTokens: number): string {
  if (text.length * 3 <= maxTokens) return text;
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= maxTokens) return text;
  // A character that the cut goes through becomes a mark of its own, and leaves.
  return bytes
    .subarray(0, maxTokens)
    .toString("utf8")
    .replace(/\uFFFD+$/, "");
}
