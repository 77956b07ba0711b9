import { PageQuery, pageOf, PersonaObject } from "@shiftwork/contracts";
import { listPersonas as listRows } from "@shiftwork/db";
import { pageById } from "../../lists/page-by-id.ts";
import { endpoint } from "../endpoint.ts";
import { personaObject } from "./persona-object.ts";

export const listPersonas = endpoint({
  method: "GET",
  path: "/api/v2/personas",
  tag: "Authoring",
  summary: "List personas, newest first",
  scope: "authoring:read",
  query: PageQuery,
  result: pageOf(PersonaObject),
  statuses: [200],
  errors: ["INVALID_CURSOR", "UNKNOWN_PARAMETER"],
  handle: (deps, call) => pageById(deps, call, { read: listRows, toItem: personaObject }),
});
