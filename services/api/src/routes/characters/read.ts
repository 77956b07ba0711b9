import { CharacterObject } from "@shiftwork/contracts";
import { findCharacter, withTenant } from "@shiftwork/db";
import { notFound } from "../../errors.ts";
import { endpoint, ok } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { characterObject } from "./character-object.ts";

export const readCharacter = endpoint({
  method: "GET",
  path: "/api/v2/characters/:characterId",
  tag: "Authoring",
  summary: "Read a character",
  scope: "authoring:read",
  result: CharacterObject,
  statuses: [200],
  errors: ["CHARACTER_NOT_FOUND"],
  handle: async (deps, call) => {
    const { tenantId } = call.caller;
    const id = pathId(call, "character");
    const row = await withTenant(deps.db, tenantId, (tx) => findCharacter(tx, tenantId, id));
    if (!row) throw notFound("character");
    return ok(characterObject(row));
  },
});
