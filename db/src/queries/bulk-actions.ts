import { sql } from "kysely";
import type { Db, Tx } from "../transaction.ts";
import type { IdPage } from "./characters.ts";
import type { Counted } from "./generation-lists.ts";

export interface NewBulkAction {
  readonly id: string;
  readonly ownerId: string | null;
  readonly apiKeyId: string;
  readonly requestId: string;
  readonly action: "cancel" | "retry" | "discard";
  /** As the client asked for it. */
  readonly target: object;
  readonly note: string | null;
  readonly total: Counted;
}

export interface BulkActionRow extends Omit<NewBulkAction, "total"> {
  readonly status: "queued" | "running" | "completed" | "aborted";
  readonly total: number;
  readonly totalCapped: boolean;
  readonly done: number;
  readonly succeeded: number;
  readonly skipped: number;
  readonly failed: number;
  readonly failures: { readonly [code: string]: number };
  readonly skips: { readonly [reason: string]: number };
  /** The last generation that was dealt with. */
  readonly lastGenerationId: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

export async function insertBulkAction(tx: Tx, tenantId: string, action: NewBulkAction): Promise<void> {
  await tx
    .insertInto("bulk_actions")
    .values({
      tenant_id: tenantId,
      id: action.id,
      owner_id: action.ownerId,
      api_key_id: action.apiKeyId,
      request_id: action.requestId,
      action: action.action,
      target: action.target,
      note: action.note,
      total: action.total.count,
      total_capped: action.total.capped,
    })
    .execute();
}

/** `ownerId` set = another owner's action is missing. */
export async function findBulkAction(
  tx: Tx,
  tenantId: string,
  id: string,
  ownerId: string | null,
): Promise<BulkActionRow | null> {
  return (await selectBulkActions(tx, tenantId, ownerId).where("id", "=", id).executeTakeFirst()) ?? null;
}

/** Newest first. */
export async function listBulkActions(
  tx: Tx,
  tenantId: string,
  ownerId: string | null,
  page: IdPage,
): Promise<readonly BulkActionRow[]> {
  return selectBulkActions(tx, tenantId, ownerId)
    .$if(page.afterId !== null, (query) => query.where("id", "<", page.afterId ?? ""))
    .orderBy("id", "desc")
    .limit(page.limit)
    .execute();
}

/** Ends one that has not ended: a batch under way commits first or not at all. False = it had ended. */
export async function abortBulkAction(tx: Tx, tenantId: string, id: string): Promise<boolean> {
  const { rows } = await sql`
    update bulk_actions set status = 'aborted', finished_at = now(), lease_holder = null, lease_expires_at = null
    where tenant_id = ${tenantId} and id = ${id} and status in ('queued', 'running')
    returning id
  `.execute(tx);
  return rows.length > 0;
}

/** One that somebody works on. `holder` guards what is written of it. */
export interface HeldBulkAction {
  readonly tenantId: string;
  readonly id: string;
  readonly holder: string;
}

/** Takes the oldest unfinished one that nobody holds, of any tenant, for `leaseMs`; as admin. `null` = there is none. */
export async function takeUpBulkAction(admin: Db, holder: string, leaseMs: number): Promise<HeldBulkAction | null> {
  const { rows } = await sql<{ tenantId: string; id: string }>`
    update bulk_actions set
      status = 'running', started_at = coalesce(started_at, now()),
      lease_holder = ${holder}, lease_expires_at = now() + make_interval(secs => ${leaseMs / 1000})
    where (tenant_id, id) = (
      select tenant_id, id from bulk_actions
      where status in ('queued', 'running') and (lease_expires_at is null or lease_expires_at < now())
      order by id limit 1 for update skip locked
    )
    returning tenant_id as "tenantId", id
  `.execute(admin);
  return rows[0] ? { ...rows[0], holder } : null;
}

/** The action for the next batch, locked and its lease renewed; `null` = it was aborted, or somebody else took it over. */
export async function holdBulkAction(tx: Tx, held: HeldBulkAction, leaseMs: number): Promise<BulkActionRow | null> {
  const { rows } = await sql`
    update bulk_actions set lease_expires_at = now() + make_interval(secs => ${leaseMs / 1000})
    where tenant_id = ${held.tenantId} and id = ${held.id} and status = 'running' and lease_holder = ${held.holder}
    returning id
  `.execute(tx);
  return rows.length === 0 ? null : findBulkAction(tx, held.tenantId, held.id, null);
}

export interface BulkProgress {
  readonly succeeded: number;
  /** By reason. */
  readonly skips: { readonly [reason: string]: number };
  /** By error code. */
  readonly failures: { readonly [code: string]: number };
  /** Where the next batch begins behind; `null` = at the beginning. */
  readonly lastGenerationId: string | null;
}

/** Adds a batch to the progress; in the batch's own transaction, so that neither is without the other. */
export async function recordBulkProgress(tx: Tx, held: HeldBulkAction, progress: BulkProgress): Promise<void> {
  const [failed, skipped] = [sumOf(progress.failures), sumOf(progress.skips)];
  const done = progress.succeeded + skipped + failed;
  await sql`
    update bulk_actions set
      done = done + ${done}::int, succeeded = succeeded + ${progress.succeeded}::int,
      skipped = skipped + ${skipped}::int, failed = failed + ${failed}::int,
      failures = ${addedTo("failures", progress.failures)}, skips = ${addedTo("skips", progress.skips)},
      last_generation_id = ${progress.lastGenerationId}::uuid
    where tenant_id = ${held.tenantId} and id = ${held.id}
  `.execute(tx);
}

function sumOf(counts: { readonly [name: string]: number }): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function addedTo(column: "failures" | "skips", counts: { readonly [name: string]: number }) {
  return sql`${sql.ref(column)} || (
    select coalesce(jsonb_object_agg(name, count::int + coalesce((${sql.ref(column)} ->> name)::int, 0)), '{}')
    from jsonb_each_text(${counts}::jsonb) as happened (name, count)
  )`;
}

/** There is nothing left to do. */
export async function completeBulkAction(tx: Tx, held: HeldBulkAction): Promise<void> {
  await sql`
    update bulk_actions set status = 'completed', finished_at = now(), lease_holder = null, lease_expires_at = null
    where tenant_id = ${held.tenantId} and id = ${held.id}
  `.execute(tx);
}

/** Lets go of it for `pauseMs`: it cannot go on at the moment, or its holder shuts down. */
export async function putDownBulkAction(admin: Db, held: HeldBulkAction, pauseMs: number): Promise<void> {
  await sql`
    update bulk_actions set lease_holder = null, lease_expires_at = now() + make_interval(secs => ${pauseMs / 1000})
    where tenant_id = ${held.tenantId} and id = ${held.id} and lease_holder = ${held.holder}
  `.execute(admin);
}

/** Takes the deleted chat out of what actions that have ended were for; one under way would become one for everything. */
export async function forgetBulkTarget(tx: Tx, tenantId: string, publicChatId: string): Promise<void> {
  await sql`
    update bulk_actions set target = '{}'
    where tenant_id = ${tenantId} and finished_at is not null and target #>> '{filter,chatId}' = ${publicChatId}
  `.execute(tx);
}

/** As `forgetBulkTarget`, of actions that ended after their chat was deleted. */
export async function forgetBulkTargetsGone(tx: Tx, tenantId: string): Promise<void> {
  await sql`
    update bulk_actions set target = '{}'
    where tenant_id = ${tenantId} and finished_at is not null and target #>> '{filter,chatId}' is not null
      and not exists (
        select from chats
        where chats.tenant_id = ${tenantId} and chats.id = substring(target #>> '{filter,chatId}' from '_(.*)$')::uuid
      )
  `.execute(tx);
}

/** Those that ended more than `keptMs` ago. */
export async function deleteFinishedBulkActions(tx: Tx, tenantId: string, keptMs: number): Promise<void> {
  await sql`
    delete from bulk_actions
    where tenant_id = ${tenantId} and finished_at < now() - make_interval(secs => ${keptMs / 1000})
  `.execute(tx);
}

function selectBulkActions(tx: Tx, tenantId: string, ownerId: string | null) {
  return tx
    .selectFrom("bulk_actions")
    .select([
      "id",
      "owner_id as ownerId",
      "api_key_id as apiKeyId",
      "request_id as requestId",
      "action",
      "target",
      "note",
      "status",
      "total",
      "total_capped as totalCapped",
      "done",
      "succeeded",
      "skipped",
      "failed",
      "failures",
      "skips",
      "last_generation_id as lastGenerationId",
      "created_at as createdAt",
      "started_at as startedAt",
      "finished_at as finishedAt",
    ])
    .where("tenant_id", "=", tenantId)
    .$if(ownerId !== null, (query) => query.where("owner_id", "=", ownerId));
}
