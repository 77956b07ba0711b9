import { PersonaObject } from "@shiftwork/contracts";
import { findPersona, withTenant } from "@shiftwork/db";
import { notFound } from "../../errors.ts";
import { endpoint, ok } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { personaObject } from "./persona-object.ts";

export const readPersona = endpoint({
  method: "GET",
  path: "/api/v2/personas/:personaId",
  tag: "Authoring",
  summary: "Read a persona",
  scope: "authoring:read",
  result: PersonaObject,
  statuses: [200],
  errors: ["PERSONA_NOT_FOUND"],
  handle: async (deps, call) => {
    const { tenantId } = call.caller;
    const id = pathId(call, "persona");
    const row = await withTenant(deps.db, tenantId, (tx) => findPersona(tx, tenantId, id));
    if (!row) throw notFound("persona");
    return ok(personaObject(row));
  },
});
