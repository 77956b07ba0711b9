/** What an entry's leading `@@` lines ask for, and the content without them. */
export interface Decorated {
  readonly content: string;
  /** `@@activate` wins over `@@dont_activate`. */
  readonly force: "activate" | "dont_activate" | null;
}

const LINE = /^@@@?([a-z_]+)\b.*$/i;

/**
 * Cuts the decorator lines of card spec V3 off the content, so that none is ever sent. `activate` and `dont_activate` are
 * obeyed; an `@@@` line is a fallback that counts right after a line that is not understood.
 */
export function readDecorators(content: string): Decorated {
  if (!content.startsWith("@@")) return { content, force: null };
  const lines = content.split("\n");
  const names = new Set<string>();
  let understood = true;
  let read = 0;
  for (; read < lines.length; read += 1) {
    const line = (lines[read] ?? "").trim();
    const name = LINE.exec(line)?.[1]?.toLowerCase();
    if (name === undefined) break;
    if (line.startsWith("@@@") && understood) continue;
    understood = name === "activate" || name === "dont_activate";
    if (understood) names.add(name);
  }
  const force = names.has("activate") ? "activate" : names.has("dont_activate") ? "dont_activate" : null;
  return { content: lines.slice(read).join("\n").trim(), force };
}
