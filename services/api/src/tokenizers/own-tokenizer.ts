import { decodeId, encodeId } from "@shiftwork/contracts";
import { findTokenizerFile, withTenant, type Db, type Tx } from "@shiftwork/db";
import { namedProfile, type Profile, type TokenizerFacts } from "@shiftwork/pipeline";
import type { ReadyTokenizer, Tokenizers } from "@shiftwork/platform";

/** Runs a read in a transaction of the tenant. */
type InTenant = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

/**
 * A tenant's tokenizer, ready to count; `null` = it is not stored any more. Its profile goes by its public id. A first use
 * takes a second, so the transaction that reads the file should be one of its own.
 */
export function ownTokenizer(
  tokenizers: Tokenizers,
  tenantId: string,
  id: string,
  inTenant: InTenant,
): Promise<ReadyTokenizer | null> {
  const read = () => inTenant((tx) => findTokenizerFile(tx, tenantId, id));
  return tokenizers.find(tenantId, encodeId("tokenizer", id), read);
}

/** What counted an audit's blocks; `null` = it is not known any more. */
export async function profileOfAudit(
  { db, tokenizers }: { readonly db: Db; readonly tokenizers: Tokenizers },
  tenantId: string,
  facts: TokenizerFacts,
): Promise<Profile | null> {
  const id = decodeId("tokenizer", facts.profile);
  if (id === null) return namedProfile(facts);
  const own = await ownTokenizer(tokenizers, tenantId, id, (work) => withTenant(db, tenantId, work));
  return own?.profile ?? null;
}
