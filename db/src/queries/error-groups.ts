import { sql } from "kysely";
import type { Db, Tx } from "../transaction.ts";

export type ErrorState = "open" | "resolved" | "ignored";

/** Failures of one kind: what their fingerprint was made from is the same in all of them. */
export interface ErrorGroupRow {
  readonly tenantId: string;
  readonly fingerprint: string;
  readonly errorCode: string;
  readonly errorOrigin: string;
  readonly providerKind: string;
  readonly model: string;
  /** Bounded; see `countedUpTo`. */
  readonly count: number;
  readonly firstSeenAt: Date;
  readonly lastSeenAt: Date;
  readonly newestId: string;
  readonly sampleIds: readonly string[];
  readonly state: ErrorState;
  readonly regressed: boolean;
  readonly stateChangedAt: Date | null;
}

export interface ErrorGroupFilter {
  readonly state?: ErrorState | undefined;
  readonly errorCode?: string | undefined;
  readonly errorOrigin?: string | undefined;
  readonly model?: string | undefined;
  readonly fingerprint?: string | undefined;
}

export interface ErrorGroupPage {
  readonly limit: number;
  /** Newest failure of the last group of the page before. */
  readonly afterId: string | null;
  /** A group's failures are counted to here and one further. */
  readonly countedUpTo: number;
}

/** The groups, the one that happened last first. `ownerId` set = of that owner's generations. */
export async function listErrorGroups(
  tx: Tx,
  tenantId: string,
  ownerId: string | null,
  filter: ErrorGroupFilter,
  page: ErrorGroupPage,
): Promise<readonly ErrorGroupRow[]> {
  return selectGroups(tx, { tenantId, ownerId }, filter, page);
}

/** As `listErrorGroups`, each group of every tenant, or of the one that is named; as admin. */
export async function listErrorGroupsEverywhere(
  admin: Db,
  tenantId: string | null,
  filter: ErrorGroupFilter,
  page: ErrorGroupPage,
): Promise<readonly ErrorGroupRow[]> {
  return selectGroups(admin, { tenantId, ownerId: null }, filter, page);
}

/**
 * Tenants and fingerprints are found by leaping through the index, a step for each group whatever its size; only the
 * groups of the page are counted.
 */
async function selectGroups(
  db: Db | Tx,
  { tenantId, ownerId }: { readonly tenantId: string | null; readonly ownerId: string | null },
  filter: ErrorGroupFilter,
  page: ErrorGroupPage,
): Promise<readonly ErrorGroupRow[]> {
  const ofTenant = tenantId === null ? sql`` : sql`and tenant_id = ${tenantId}`;
  const ofOwner = ownerId === null ? sql`` : sql`and owner_id = ${ownerId}`;
  const ofGroup = (group: string) => {
    const [tenant, fingerprint] = [sql.ref(`${group}.tenant_id`), sql.ref(`${group}.fingerprint`)];
    return sql`generations.tenant_id = ${tenant} and error_fingerprint = ${fingerprint} ${ofOwner}`;
  };
  const { rows } = await sql<ErrorGroupRow>`
    with recursive kind as (
      (select tenant_id, error_fingerprint as fingerprint from generations
        where error_fingerprint is not null ${ofTenant} order by tenant_id, error_fingerprint limit 1)
      union all
      select next.tenant_id, next.error_fingerprint from kind cross join lateral (
        select tenant_id, error_fingerprint from generations
        where error_fingerprint is not null ${ofTenant}
          and (tenant_id, error_fingerprint) > (kind.tenant_id, kind.fingerprint)
        order by tenant_id, error_fingerprint limit 1
      ) as next
    ),
    newest as (
      select kind.tenant_id, kind.fingerprint, last.*, state.changed_at as state_changed_at,
        coalesce(state.state, 'open') as said,
        coalesce(state.state = 'resolved' and last.finished_at > state.changed_at, false) as regressed
      from kind
      cross join lateral (
        select id, error_code, error_origin, provider_kind, model, finished_at from generations
        where ${ofGroup("kind")}
        order by id desc limit 1
      ) as last
      left join error_states as state on state.tenant_id = kind.tenant_id and state.fingerprint = kind.fingerprint
      where (${filter.fingerprint ?? null}::text is null or kind.fingerprint = ${filter.fingerprint ?? null})
    ),
    shown as (
      select *, case when regressed then 'open' else said end as state from newest
    ),
    page as (
      select * from shown
      where (${filter.state ?? null}::text is null or state = ${filter.state ?? null})
        and (${filter.errorCode ?? null}::text is null or error_code = ${filter.errorCode ?? null})
        and (${filter.errorOrigin ?? null}::text is null or error_origin = ${filter.errorOrigin ?? null})
        and (${filter.model ?? null}::text is null or model = ${filter.model ?? null})
        and (${page.afterId}::uuid is null or id < ${page.afterId}::uuid)
      order by id desc limit ${page.limit}
    )
    select page.tenant_id as "tenantId", page.fingerprint, page.error_code as "errorCode", page.error_origin as "errorOrigin",
      page.provider_kind as "providerKind", page.model, page.id as "newestId", page.state, page.regressed,
      page.state_changed_at as "stateChangedAt", page.finished_at as "lastSeenAt",
      (select finished_at from generations where ${ofGroup("page")} order by id limit 1)
        as "firstSeenAt",
      (select count(*)::int from (
        select from generations where ${ofGroup("page")} limit ${page.countedUpTo + 1}
      ) as found) as count,
      array(select id from generations where ${ofGroup("page")} order by id desc limit 5)
        as "sampleIds"
    from page order by page.id desc
  `.execute(db);
  return rows;
}

/** Says what is to become of a kind of failure. Call only for one that has happened. */
export async function writeErrorState(tx: Tx, tenantId: string, fingerprint: string, state: ErrorState): Promise<void> {
  await tx
    .insertInto("error_states")
    .values({ tenant_id: tenantId, fingerprint, state })
    .onConflict((conflict) =>
      conflict.columns(["tenant_id", "fingerprint"]).doUpdateSet({ state, changed_at: sql<Date>`now()` }),
    )
    .execute();
}
