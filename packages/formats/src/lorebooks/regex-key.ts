const FLAGS = /^[gimsuy]*$/;

/** A key taken apart at its slashes; `null` for a plain key. */
function splitRegexKey(key: string): { readonly pattern: string; readonly flags: string } | null {
  const close = key.lastIndexOf("/");
  const flags = key.slice(close + 1);
  return key.startsWith("/") && close > 1 && /^[a-z]*$/.test(flags) ? { pattern: key.slice(1, close), flags } : null;
}

/** True for a key written between slashes, whether or not what stands between them can be used. */
export function isRegexKey(key: string): boolean {
  return splitRegexKey(key) !== null;
}

/** True when a key between slashes is one the format runs: known flags, inner slashes escaped, a pattern that compiles. */
export function isValidRegexKey(key: string): boolean {
  const parts = splitRegexKey(key);
  if (parts === null || !FLAGS.test(parts.flags) || hasBareSlash(parts.pattern)) return false;
  try {
    return new RegExp(parts.pattern, parts.flags).source !== "";
  } catch {
    return false;
  }
}

function hasBareSlash(pattern: string): boolean {
  for (let at = 0; at < pattern.length; at += 1) {
    if (pattern[at] === "\\") at += 1;
    else if (pattern[at] === "/") return true;
  }
  return false;
}
