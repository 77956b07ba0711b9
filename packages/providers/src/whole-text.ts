const LONE_SURROGATES = /\p{Surrogate}/gu;
const HIGH_SURROGATE_AT_END = /[\uD800-\uDBFF]$/;

/** Makes every delta well-formed on its own. */
export interface WholeText {
  /** The part of everything given so far that can go out now; `""` when nothing can. */
  push(delta: string): string;
  /** What was held back. */
  flush(): string;
}

/**
 * Some servers escape a character beyond the BMP as `\ud83d` in one chunk and `\ude00` in the next. The first half waits
 * for the second; a half that stays alone becomes U+FFFD, since no database stores it.
 */
export function createWholeText(): WholeText {
  let held = "";
  return {
    push(delta) {
      const text = held + delta;
      held = HIGH_SURROGATE_AT_END.exec(text)?.[0] ?? "";
      return wellFormed(text.slice(0, text.length - held.length));
    },
    flush() {
      const rest = held === "" ? "" : "\uFFFD";
      held = "";
      return rest;
    },
  };
}

/** Half a surrogate pair becomes U+FFFD; for short texts that come in one piece. */
export function wellFormed(text: string): string {
  return text.replace(LONE_SURROGATES, "\uFFFD");
}
