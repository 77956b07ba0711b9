import { pageOf, TokenizerObject } from "@shiftwork/contracts";
import { listTokenizers as listRows, withTenant } from "@shiftwork/db";
import { endpoint, ok } from "../endpoint.ts";
import { BUILT_IN_TOKENIZERS, tokenizerObject } from "./tokenizer-object.ts";

export const listTokenizers = endpoint({
  method: "GET",
  path: "/api/v2/tokenizers",
  tag: "Context",
  summary: "What counts tokens: the tenant's tokenizers, newest first, then the built-in profiles, as they are asked",
  scope: "any key",
  result: pageOf(TokenizerObject),
  statuses: [200],
  errors: [],
  handle: async ({ db }, { caller: { tenantId } }) => {
    const rows = await withTenant(db, tenantId, (tx) => listRows(tx, tenantId));
    return ok({ items: [...rows.map(tokenizerObject), ...BUILT_IN_TOKENIZERS], nextCursor: null, hasMore: false });
  },
});
