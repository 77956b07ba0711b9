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
