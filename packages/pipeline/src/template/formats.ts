import { chatml } from "./formats/chatml.ts";
import type { InstructFormat } from "./instruct-format.ts";

/** Every instruct format. A new one is a file and a line here; `instruct-format.contract.test.ts` picks it up. */
export const INSTRUCT_FORMATS = { chatml } as const satisfies Record<string, InstructFormat>;
export type InstructFormatId = keyof typeof INSTRUCT_FORMATS;

/** The format of an id, or `null` when there is none. */
export function instructFormat(id: string): InstructFormat | null {
  return Object.hasOwn(INSTRUCT_FORMATS, id) ? INSTRUCT_FORMATS[id as InstructFormatId] : null;
}
