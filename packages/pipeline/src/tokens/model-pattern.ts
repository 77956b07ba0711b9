/**
 * Whether a model's bare name (`bareModelName`) is what a pattern stands for: `*` is any number of any characters,
 * everything else itself. Takes time in proportion to the name for each part of the pattern, whatever both are.
 */
export function matchesModel(pattern: string, model: string): boolean {
  const [first = "", ...others] = pattern.split("*");
  const last = others.pop();
  if (last === undefined) return model === first;
  if (!model.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const found = model.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return model.length - last.length >= at && model.endsWith(last);
}
