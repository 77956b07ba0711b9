// Above this many comparisons at the worst, the engine's own search (quadratic on repetitive text) is not trusted.
const NATIVE_LIMIT = 1_048_576;

/** `text.indexOf(needle, from)`, in linear time whatever the two are made of. */
export function findText(text: string, needle: string, from = 0): number {
  if (needle.length * (text.length - from) <= NATIVE_LIMIT) return text.indexOf(needle, from);
  return knuthMorrisPratt(text, needle, from);
}

function knuthMorrisPratt(text: string, needle: string, from: number): number {
  const borders = borderLengths(needle);
  let matched = 0;
  for (let index = from; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    while (matched > 0 && needle.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
    if (needle.charCodeAt(matched) === unit) matched += 1;
    if (matched === needle.length) return index - matched + 1;
  }
  return -1;
}

// For each prefix, the length of its longest proper border: where to go on after a mismatch.
function borderLengths(needle: string): Int32Array {
  const borders = new Int32Array(needle.length);
  let length = 0;
  for (let index = 1; index < needle.length; index += 1) {
    const unit = needle.charCodeAt(index);
    while (length > 0 && needle.charCodeAt(length) !== unit) length = borders[length - 1] ?? 0;
    if (needle.charCodeAt(length) === unit) length += 1;
    borders[index] = length;
  }
  return borders;
}
