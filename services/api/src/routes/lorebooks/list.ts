import { LorebookObject, PageQuery, pageOf } from "@shiftwork/contracts";
import { listLorebooks as listRows } from "@shiftwork/db";
import { pageById } from "../../lists/page-by-id.ts";
import { endpoint } from "../endpoint.ts";
import { lorebookObject } from "./lorebook-object.ts";

export const listLorebooks = endpoint({
  method: "GET",
  path: "/api/v2/lorebooks",
  tag: "Lore",
  summary: "List lorebooks, newest first",
  scope: "lore:read",
  query: PageQuery,
  result: pageOf(LorebookObject),
  statuses: [200],
  errors: ["INVALID_CURSOR", "UNKNOWN_PARAMETER"],
  handle: (deps, call) => pageById(deps, call, { read: listRows, toItem: lorebookObject }),
});
