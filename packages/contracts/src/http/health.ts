import { z } from "zod";

export const Alive = z.object({ status: z.literal("ok") });
export const VersionObject = z.object({ version: z.string(), apiVersion: z.literal(2) });
