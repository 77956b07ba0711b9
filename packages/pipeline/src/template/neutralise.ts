import type { InstructFormat } from "./instruct-format.ts";

/**
 * Puts a format's own marks out of action inside a text by a space behind their first character: `<|im_end|>` becomes
 * `< |im_end|>`, which reads the same and ends no turn. Returns `text` itself when it holds none.
 */
export function neutralise(text: string, { controlTexts }: Pick<InstructFormat, "controlTexts">): string {
  let safe = text;
  // Marks of one format may overlap, so one split can leave or make another: on until none is found.
  while (controlTexts.some((mark) => safe.includes(mark))) {
    for (const mark of controlTexts) safe = safe.replaceAll(mark, `${mark.slice(0, 1)} ${mark.slice(1)}`);
  }
  return safe;
}
