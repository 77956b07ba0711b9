import { z } from "zod";

export const Alive = z.object({ status: z.literal("ok") });

/** `plugins`: the modules this process loaded, in order, and what each of them added. */
export const VersionObject = z.object({
  version: z.string(),
  apiVersion: z.literal(2),
  plugins: z.array(
    z.object({ module: z.string(), strategies: z.array(z.string()), interceptors: z.array(z.string()) }),
  ),
});
export type VersionObject = z.infer<typeof VersionObject>;
