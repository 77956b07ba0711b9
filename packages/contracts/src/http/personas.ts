import { z } from "zod";
import { Name, publicId, Text, Timestamp } from "./fields.ts";

/** Body of `POST /personas`: who the user is. */
export const CreatePersona = z.strictObject({ name: Name, description: Text.default("") });
export type CreatePersona = z.infer<typeof CreatePersona>;

export const PersonaObject = z.object({
  id: publicId("persona"),
  object: z.literal("persona"),
  name: z.string(),
  description: z.string(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type PersonaObject = z.infer<typeof PersonaObject>;
