import { ImportError } from "../errors.ts";

/** The import error `action` ends in; anything else fails the test. */
export function importErrorOf(action: () => unknown): ImportError {
  try {
    action();
  } catch (error) {
    if (error instanceof ImportError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

export function bytesOf(value: unknown): Uint8Array {
  return Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
}
