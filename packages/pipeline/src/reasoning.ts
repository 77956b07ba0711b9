const OPENING = /^\s*<(think|thinking|reasoning)>/i;

/**
 * A model's text without the reasoning that leads it. An unclosed tag hides the rest. Tags further in are text that
 * speaks of tags. Never for what a user wrote.
 */
export function stripReasoning(text: string): string {
  let rest = text;
  for (;;) {
    const opening = OPENING.exec(rest);
    if (opening === null) return rest;
    const close = new RegExp(`</${opening[1] ?? ""}>`, "i").exec(rest);
    if (close === null) return "";
    rest = rest.slice(close.index + close[0].length).trimStart();
  }
}
