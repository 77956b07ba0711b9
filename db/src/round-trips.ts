import type { CompiledQuery } from "kysely";
import type { Tx } from "./transaction.ts";

const sentAlong = new WeakSet<CompiledQuery>();

/**
 * Sends a statement along with the transaction's next one, or its commit, which fails if this one does. For writes whose
 * answer nobody reads: several cost one way to the server.
 */
export async function sendAlong(tx: Tx, statement: { compile(tx: Tx): CompiledQuery }): Promise<void> {
  const compiled = statement.compile(tx);
  sentAlong.add(compiled);
  await tx.executeQuery(compiled);
}

export function isSentAlong(query: CompiledQuery): boolean {
  return sentAlong.has(query);
}
