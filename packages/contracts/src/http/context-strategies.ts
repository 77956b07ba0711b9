import { z } from "zod";

/** A way to make a prompt fit, and the JSON Schema of its `strategyOptions`. */
export const ContextStrategyObject = z.object({
  object: z.literal("context_strategy"),
  id: z.string(),
  builtIn: z.boolean(),
  params: z.record(z.string(), z.unknown()),
});
export type ContextStrategyObject = z.infer<typeof ContextStrategyObject>;
