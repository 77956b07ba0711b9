import { encodeId, type PersonaObject } from "@shiftwork/contracts";
import type { PersonaRow } from "@shiftwork/db";

export function personaObject(row: PersonaRow): PersonaObject {
  return {
    id: encodeId("persona", row.id),
    object: "persona",
    name: row.name,
    description: row.description,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
