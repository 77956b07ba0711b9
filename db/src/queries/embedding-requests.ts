import { sql } from "kysely";
import type { Db, Tx } from "../transaction.ts";

/** A chat whose texts want vectors. */
export interface EmbeddingRequest {
  readonly tenantId: string;
  readonly chatId: string;
  /** Lore is recalled too. */
  readonly withLore: boolean;
  readonly asks: number;
  readonly failures: number;
}

/** Asks for the vectors that the chat's texts lack; once it is there it is only renewed. No chat, no request. */
export async function requestEmbeddings(
  tx: Tx,
  tenantId: string,
  { chatId, withLore }: { readonly chatId: string; readonly withLore: boolean },
): Promise<void> {
  await sql`
    insert into embedding_requests (tenant_id, chat_id, with_lore)
    select tenant_id, id, ${withLore} from chats where tenant_id = ${tenantId} and id = ${chatId} for key share
    on conflict (tenant_id, chat_id) do update set
      asks = embedding_requests.asks + 1, with_lore = embedding_requests.with_lore or excluded.with_lore
  `.execute(tx);
}

/**
 * Requests that are due, over all tenants, the longest waiting first. A chat in which something runs is left until its
 * reply is there, which wants a vector too; after `busyAtMostMs` it has its turn all the same.
 */
export async function findDueEmbeddingRequests(
  db: Db,
  options: { readonly limit: number; readonly limitPerTenant: number; readonly busyAtMostMs: number },
): Promise<readonly EmbeddingRequest[]> {
  const { rows } = await sql<EmbeddingRequest>`
    select tenant_id as "tenantId", chat_id as "chatId", with_lore as "withLore", asks, failures
    from (
      select request.*, row_number() over (partition by tenant_id order by next_try_at) as place
      from embedding_requests as request
      where next_try_at <= now() and (
        requested_at < now() - make_interval(secs => ${options.busyAtMostMs / 1000})
        or not exists (
          select from generations
          where generations.tenant_id = request.tenant_id and generations.chat_id = request.chat_id
            and generations.status in ('queued', 'running')
        )
      )
    ) as due
    where place <= ${options.limitPerTenant}
    order by place, next_try_at
    limit ${options.limit}
  `.execute(db);
  return rows;
}

/** Done; a chat that was asked for again in the meantime stays. */
export async function settleEmbeddingRequest(tx: Tx, request: EmbeddingRequest): Promise<void> {
  await tx
    .deleteFrom("embedding_requests")
    .where("tenant_id", "=", request.tenantId)
    .where("chat_id", "=", request.chatId)
    .where("asks", "=", request.asks)
    .execute();
}

/** Gives a request up, however often it was asked for. */
export async function dropEmbeddingRequest(tx: Tx, request: EmbeddingRequest): Promise<void> {
  await tx
    .deleteFrom("embedding_requests")
    .where("tenant_id", "=", request.tenantId)
    .where("chat_id", "=", request.chatId)
    .execute();
}

/** Comes back to it after `waitMs`. */
export async function postponeEmbeddingRequest(tx: Tx, request: EmbeddingRequest, waitMs: number): Promise<void> {
  await tx
    .updateTable("embedding_requests")
    .set({
      failures: request.failures + 1,
      next_try_at: sql<Date>`now() + make_interval(secs => ${waitMs / 1000})`,
    })
    .where("tenant_id", "=", request.tenantId)
    .where("chat_id", "=", request.chatId)
    .execute();
}
