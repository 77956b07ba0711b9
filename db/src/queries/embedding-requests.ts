import type { RecallSetting } from "@shiftwork/contracts";
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

/**
 * Leaves all requests of a tenant whose chats recall by this provider for `waitMs` at least, and counts that many failures
 * for each, so that the pause after the next one is the provider's and not the chat's. The choice is that of `chooseRecall`.
 */
export async function postponeEmbeddingsOf(
  tx: Tx,
  tenantId: string,
  setting: RecallSetting,
  { failures, waitMs }: { readonly failures: number; readonly waitMs: number },
): Promise<void> {
  const providerId = setting.provider === "openai-compatible" ? setting.providerId : null;
  await sql`
    update embedding_requests as request set
      failures = greatest(failures, ${failures}::integer),
      next_try_at = greatest(next_try_at, now() + make_interval(secs => ${waitMs / 1000}))
    from chats
    left join characters on characters.tenant_id = chats.tenant_id and characters.id = chats.character_id
    left join tenant_settings on tenant_settings.tenant_id = chats.tenant_id
    cross join lateral (
      select coalesce(
        nullif(chats.settings -> 'recall', 'null'), nullif(characters.settings -> 'recall', 'null'),
        tenant_settings.settings -> 'recall'
      ) as recall
    ) as choice
    where request.tenant_id = ${tenantId} and chats.tenant_id = ${tenantId} and chats.id = request.chat_id
      and recall ->> 'provider' = ${setting.provider} and recall ->> 'providerId' is not distinct from ${providerId}::text
  `.execute(tx);
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
