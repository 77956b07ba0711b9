import { deleteTokenizer as deleteRow, withTenant } from "@shiftwork/db";
import { notFound } from "../../errors.ts";
import { endpoint } from "../endpoint.ts";
import { pathId } from "../ids.ts";

export const deleteTokenizer = endpoint({
  method: "DELETE",
  path: "/api/v2/tokenizers/:tokenizerId",
  tag: "Context",
  summary: "Delete a tokenizer; its models are counted by the next that matches, or by a built-in profile",
  scope: "authoring:write",
  result: null,
  statuses: [204],
  errors: ["TOKENIZER_NOT_FOUND"],
  handle: async ({ db }, call) => {
    const { tenantId } = call.caller;
    const id = pathId(call, "tokenizer");
    const wasThere = await withTenant(db, tenantId, (tx) => deleteRow(tx, tenantId, id));
    if (!wasThere) throw notFound("tokenizer");
    return { status: 204, body: null };
  },
});
