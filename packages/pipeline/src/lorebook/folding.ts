/** How text and key are made comparable; both sides always get the same one. */
export type Folding = "raw" | "lower" | "nfc" | "nfc_lower";

/** `unicode` books compare in NFC, so composed and decomposed accents are one letter; `ascii` books compare as written. */
export function foldingOf(wordBoundaries: "unicode" | "ascii", caseSensitive: boolean): Folding {
  if (wordBoundaries === "ascii") return caseSensitive ? "raw" : "lower";
  return caseSensitive ? "nfc" : "nfc_lower";
}

const FOLDERS: Readonly<Record<Folding, (text: string) => string>> = {
  raw: (text) => text,
  lower: (text) => text.toLowerCase(),
  nfc: (text) => text.normalize("NFC"),
  // A sigma's lower case depends on its place in the word; a key must match in the middle and at the end alike.
  nfc_lower: (text) => text.normalize("NFC").toLowerCase().replaceAll("ς", "σ"),
};

/** The text in that folding. May change its length (`İ` becomes two units); `unfoldedOffset` leads back. */
export function fold(text: string, folding: Folding): string {
  return FOLDERS[folding](text);
}

/** Where in `text` the character stands that is at `offset` in `fold(text, folding)`. */
export function unfoldedOffset(text: string, folding: Folding, offset: number): number {
  const composed = folding === "raw" || folding === "lower" || text === text.normalize("NFC");
  if (composed && fold(text, folding).length === text.length) return offset;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (fold(text.slice(0, middle + 1), folding).length > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}
