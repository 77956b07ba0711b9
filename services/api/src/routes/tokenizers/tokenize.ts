import { decodeId, TokenCount, Tokenize } from "@shiftwork/contracts";
import { findTokenizer, withTenant, type Tx } from "@shiftwork/db";
import { PROFILES, profileFor, type Profile } from "@shiftwork/pipeline";
import { countEach, type Countable, type CountedBy, type Tokenizers } from "@shiftwork/platform";
import type { ApiDependencies } from "../../api-dependencies.ts";
import { notFound } from "../../errors.ts";
import { findTokenizerFor } from "../../tokenizers/choose-counting.ts";
import { ownTokenizer } from "../../tokenizers/own-tokenizer.ts";
import { endpoint, ok } from "../endpoint.ts";
import { requireRoomToWait } from "./require-room-to-wait.ts";

/** Longest input counted while others wait, in UTF-16 units: 60 ms at worst, 2 ms of prose. More goes to a thread. */
const LONGEST_COUNTED_HERE = 65_536;

export const tokenize = endpoint({
  method: "POST",
  path: "/api/v2/tokenize",
  tag: "Context",
  summary: "Count a text or messages as a model's turns are counted; what was learned of a provider is left out",
  scope: "any key",
  body: Tokenize,
  result: TokenCount,
  statuses: [200],
  errors: ["TOKENIZER_NOT_FOUND", "RATE_LIMITED"],
  handle: async ({ db, tokenizers }, { caller: { tenantId }, body }) => {
    const { profile, by } = await counterOf({ db, tokenizers }, tenantId, body);
    const input = body.text ?? (body.messages ?? []).map(wireMessage);
    const each = await countOf({ tokenizers, tenantId, profile, by }, input);
    const isText = body.text !== undefined;
    return ok({
      object: "token_count" as const,
      tokens: each.reduce((sum, tokens) => sum + tokens, isText ? 0 : profile.framing.priming),
      messageTokens: isText ? null : [...each],
      profile: profile.id,
      version: profile.version,
      approximate: profile.approximate,
    });
  },
});

interface Counted {
  readonly profile: Profile;
  readonly by: CountedBy;
}

async function counterOf(
  { db, tokenizers }: Pick<ApiDependencies, "db" | "tokenizers">,
  tenantId: string,
  body: Tokenize,
): Promise<Counted> {
  const inTenant = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => withTenant(db, tenantId, work);
  const id = await inTenant((tx) => ownIdOf(tx, tenantId, body));
  if (id !== null) {
    const ready = await ownTokenizer(tokenizers, tenantId, id, inTenant);
    if (ready === null) throw notFound("tokenizer");
    return { profile: ready.profile, by: ready.own };
  }
  const named = body.model === undefined ? builtIn(body.tokenizer ?? "") : builtIn(profileFor(body.model).id);
  if (named === null) throw notFound("tokenizer");
  return named;
}

/** The tenant's tokenizer that is named, or that counts for the model; `null` = a built-in profile does. */
async function ownIdOf(tx: Tx, tenantId: string, { model, tokenizer = "" }: Tokenize): Promise<string | null> {
  if (model !== undefined) return (await findTokenizerFor(tx, tenantId, model))?.id ?? null;
  const id = decodeId("tokenizer", tokenizer);
  if (id !== null && !(await findTokenizer(tx, tenantId, id))) throw notFound("tokenizer");
  return id;
}

function builtIn(id: string): Counted | null {
  const names = Object.keys(PROFILES) as (keyof typeof PROFILES)[];
  const by = names.find((name) => name === id);
  return by === undefined ? null : { by, profile: PROFILES[by] };
}

async function countOf(
  { tokenizers, tenantId, profile, by }: Counted & { readonly tokenizers: Tokenizers; readonly tenantId: string },
  input: Countable,
): Promise<readonly number[]> {
  const length =
    typeof input === "string" ? input.length : input.reduce((sum, { content }) => sum + (content ?? "").length, 0);
  if (length <= LONGEST_COUNTED_HERE) return countEach(profile, input);
  requireRoomToWait(tokenizers, tenantId);
  return tokenizers.count(tenantId, by, input);
}

function wireMessage({ role, content, name }: NonNullable<Tokenize["messages"]>[number]) {
  return { role, content, ...(name === undefined ? {} : { name }) };
}
