import { z } from "zod";

/** A whole number of milliseconds, 0 or more. */
export function milliseconds(): z.ZodCoercedNumber {
  return z.coerce.number().int().min(0);
}

/** A TCP port; 0 lets the system choose. */
export function port(): z.ZodCoercedNumber {
  return z.coerce.number().int().min(0).max(65_535);
}

/** `true`, `1`, `yes`, `on` or their opposites. Not `z.coerce.boolean()`, to which the text "false" is true. */
export function flag(): z.ZodCodec<z.ZodString, z.ZodBoolean> {
  return z.stringbool();
}

/** Names separated by commas, white space around them ignored; not set = none. */
export function list(): z.ZodPipe<z.ZodDefault<z.ZodString>, z.ZodTransform<readonly string[], string>> {
  const names = (text: string): readonly string[] =>
    text
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "");
  return z.string().default("").transform(names);
}
