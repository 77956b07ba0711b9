import { CharacterObject, PageQuery, pageOf } from "@shiftwork/contracts";
import { listCharacters as listRows } from "@shiftwork/db";
import { pageById } from "../../lists/page-by-id.ts";
import { endpoint } from "../endpoint.ts";
import { characterObject } from "./character-object.ts";

export const listCharacters = endpoint({
  method: "GET",
  path: "/api/v2/characters",
  tag: "Authoring",
  summary: "List characters, newest first",
  scope: "authoring:read",
  query: PageQuery,
  result: pageOf(CharacterObject),
  statuses: [200],
  errors: ["INVALID_CURSOR", "UNKNOWN_PARAMETER"],
  handle: (deps, call) => pageById(deps, call, { read: listRows, toItem: characterObject }),
});
