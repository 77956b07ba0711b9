/**
 * Deepest nesting of arrays and objects in a JSON text, counted without parsing it; stops counting above `most`.
 * Text that is not JSON gives some number: the parser judges it afterwards.
 */
export function jsonDepth(text: string, most: number): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length && deepest <= most; at += 1) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === "[" || character === "{") deepest = Math.max(deepest, (depth += 1));
    else if (character === "]" || character === "}") depth -= 1;
  }
  return deepest;
}

/** The first quote behind an even run of backslashes; searching for quotes is far faster than walking the text. */
function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote !== -1 && backslashesBefore(text, quote) % 2 === 1) quote = text.indexOf('"', quote + 1);
  return quote === -1 ? text.length : quote;
}

function backslashesBefore(text: string, end: number): number {
  let start = end;
  while (text[start - 1] === "\\") start -= 1;
  return end - start;
}
