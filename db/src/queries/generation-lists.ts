import { SHOWN_STATUSES, TERMINAL_STATUSES, type ShownStatus } from "@shiftwork/contracts";
import { sql, type RawBuilder } from "kysely";
import type { Db, Tx } from "../transaction.ts";
import { GENERATION_COLUMNS, type GenerationRow } from "./generations.ts";

/** Which generations; all conditions hold at once. Ids are uuids. */
export interface GenerationFilter {
  readonly status?: readonly ShownStatus[];
  readonly notStatus?: readonly ShownStatus[];
  readonly ids?: readonly string[];
  readonly chatId?: string;
  readonly ownerId?: string;
  readonly errorCode?: string;
  readonly errorOrigin?: string;
  readonly errorFingerprint?: string;
  readonly deadLetter?: "open" | "retried" | "discarded";
  readonly model?: string;
  readonly providerId?: string;
  readonly strategy?: string;
  readonly approximate?: boolean;
  readonly truncated?: boolean;
  readonly since?: Date;
  /** Excluded. */
  readonly until?: Date;
  readonly minDurationMs?: number;
  readonly minQueueMs?: number;
  readonly idempotencyKey?: string;
  /** First and last uuid that begin with the digits asked for. */
  readonly idRange?: readonly [string, string];
  readonly labels?: { readonly [key: string]: string };
}

export interface GenerationPage {
  readonly limit: number;
  /** The last row of the page before. */
  readonly afterId: string | null;
  readonly order: "newest first" | "oldest first";
}

/** A row of a list across tenants. */
export interface TenantGenerationRow extends GenerationRow {
  readonly tenantId: string;
}

/** Sorted by id, which is by time of acceptance. */
export async function listGenerations(
  tx: Tx,
  tenantId: string,
  filter: GenerationFilter,
  page: GenerationPage,
): Promise<readonly GenerationRow[]> {
  return tx
    .selectFrom("generations")
    .select(GENERATION_COLUMNS)
    .where("tenant_id", "=", tenantId)
    .where(sql<boolean>`id in ${idsOf({ ...filter, tenantId }, page)}`)
    .orderBy("id", DIRECTIONS[page.order])
    .execute();
}

/** As `listGenerations`, of every tenant, or of the one in the filter; as admin. */
export async function listGenerationsEverywhere(
  admin: Db,
  filter: TenantFilter,
  page: GenerationPage,
): Promise<readonly TenantGenerationRow[]> {
  return admin
    .selectFrom("generations")
    .select(["tenant_id as tenantId", ...GENERATION_COLUMNS])
    .where(sql<boolean>`id in ${idsOf(filter, page)}`)
    .orderBy("id", DIRECTIONS[page.order])
    .execute();
}

/** Ids of the next ones in the order of acceptance. */
export async function findGenerationIds(
  tx: Tx,
  tenantId: string,
  filter: GenerationFilter,
  page: { readonly limit: number; readonly afterId: string | null },
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from ${idsOf({ ...filter, tenantId }, { ...page, order: "oldest first" })} as found order by id
  `.execute(tx);
  return rows.map((row) => row.id);
}

export interface Counted {
  readonly count: number;
  /** There are at least this many. */
  readonly capped: boolean;
}

/** Counts up to `most`. */
export async function countGenerations(
  tx: Tx,
  tenantId: string,
  filter: GenerationFilter,
  most: number,
): Promise<Counted> {
  return countGenerationsEverywhere(tx, { ...filter, tenantId }, most);
}

/** As `countGenerations`, of every tenant, or of the one in the filter; as admin. */
export async function countGenerationsEverywhere(db: Db | Tx, filter: TenantFilter, most: number): Promise<Counted> {
  const parts = partsOf(filter).map((where) => sql`(select from generations where ${where} limit ${most + 1})`);
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (${sql.join(parts, sql` union all `)}) as found
  `.execute(db);
  const count = rows[0]?.count ?? 0;
  return { count: Math.min(count, most), capped: count > most };
}

type TenantFilter = GenerationFilter & { readonly tenantId?: string };

const DIRECTIONS = { "newest first": "desc", "oldest first": "asc" } as const;

/** The ids of a page, found in indexes alone where the filter's columns stand in one; the rows are read for them only. */
function idsOf(filter: TenantFilter, { order, afterId, limit }: GenerationPage): RawBuilder<unknown> {
  const inOrder = sql`order by id ${sql.raw(DIRECTIONS[order])} limit ${limit}`;
  const after = afterId === null ? sql`` : sql`and id ${sql.raw(order === "newest first" ? "<" : ">")} ${afterId}`;
  const parts = partsOf(filter).map((where) => sql`(select id from generations where ${where} ${after} ${inOrder})`);
  return sql`(select id from (${sql.join(parts, sql` union all `)}) as part ${inOrder})`;
}

type Condition = RawBuilder<boolean>;

/** What a filter means of those that have ended and of the active ones: each part has indexes of its own. */
function partsOf({ tenantId, status, notStatus, ...filter }: TenantFilter): RawBuilder<unknown>[] {
  const wanted = (status ?? SHOWN_STATUSES).filter((each) => !notStatus?.includes(each));
  const same = [...(tenantId === undefined ? [] : [sql`tenant_id = ${tenantId}`]), ...conditions(filter)];
  const ended = wanted.filter(isEnded);
  const ofEnded = ended.length === TERMINAL_STATUSES.length ? [] : [isOneOf(ended)];
  const ofActive = isOneOf(wanted.filter((each) => !isEnded(each)));
  return [
    sql.join([sql`finished_at is not null`, ...ofEnded, ...same], sql` and `),
    sql.join([sql`status in ('queued', 'running')`, ofActive, ...same], sql` and `),
  ];
}

function isEnded(status: ShownStatus): boolean {
  return TERMINAL_STATUSES.some((terminal) => terminal === status);
}

/** Comparisons of plain columns and side tables, which row-level security lets use indexes. */
function conditions(filter: Omit<GenerationFilter, "status" | "notStatus">): Condition[] {
  const found: Condition[] = [];
  const when = <T>(value: T | undefined, condition: (value: T) => Condition): void => {
    if (value !== undefined) found.push(condition(value));
  };
  when(filter.ids, (ids) => sql<boolean>`generations.id = any(${ids}::uuid[])`);
  when(filter.idRange, ([first, last]) => sql<boolean>`generations.id between ${first} and ${last}`);
  when(filter.chatId, (id) => sql<boolean>`chat_id = ${id}`);
  when(filter.ownerId, (id) => sql<boolean>`owner_id = ${id}`);
  // Only failed ones have a code and an origin; saying so lets the index of failures be used.
  when(filter.errorCode, (code) => sql<boolean>`status = 'failed' and error_code = ${code}`);
  when(filter.errorOrigin, (origin) => sql<boolean>`status = 'failed' and error_origin = ${origin}`);
  when(filter.errorFingerprint, (fingerprint) => sql<boolean>`error_fingerprint = ${fingerprint}`);
  when(filter.deadLetter, isDeadLetter);
  when(filter.model, (model) => sql<boolean>`model = ${model}`);
  when(filter.providerId, (id) => sql<boolean>`provider_id = ${id}`);
  when(filter.strategy, (strategy) => sql<boolean>`strategy = ${strategy}`);
  when(filter.approximate, (approximate) => sql<boolean>`approximate = ${approximate}`);
  when(filter.truncated, (truncated) => sql<boolean>`truncated = ${truncated}`);
  when(filter.since, since);
  when(filter.until, before);
  when(filter.minDurationMs, (ms) => sql<boolean>`finished_at - started_at >= make_interval(secs => ${ms / 1000})`);
  when(
    filter.minQueueMs,
    (ms) => sql<boolean>`started_at - generations.created_at >= make_interval(secs => ${ms / 1000})`,
  );
  when(filter.idempotencyKey, wasSentWith);
  for (const [key, value] of Object.entries(filter.labels ?? {})) found.push(hasLabel(key, value));
  return found;
}

/** Written out, not as parameters: an index of some statuses is used only where the planner can read them. */
const STATUS_CONDITIONS = {
  queued: sql<boolean>`status = 'queued'`,
  running: sql<boolean>`status = 'running' and cancel_requested_at is null`,
  cancelling: sql<boolean>`status = 'running' and cancel_requested_at is not null`,
  completed: sql<boolean>`status = 'completed'`,
  failed: sql<boolean>`status = 'failed'`,
  cancelled: sql<boolean>`status = 'cancelled'`,
} as const satisfies Record<ShownStatus, Condition>;

function isOneOf(statuses: readonly ShownStatus[]): Condition {
  if (statuses.length === 0) return sql<boolean>`false`;
  return sql<boolean>`(${sql.join(
    statuses.map((status) => STATUS_CONDITIONS[status]),
    sql` or `,
  )})`;
}

const DEAD_LETTER_CONDITIONS = {
  open: sql<boolean>`dead_letter = 'open'`,
  retried: sql<boolean>`status = 'failed' and dead_letter = 'retried'`,
  discarded: sql<boolean>`status = 'failed' and dead_letter = 'discarded'`,
} as const;

function isDeadLetter(state: keyof typeof DEAD_LETTER_CONDITIONS): Condition {
  return DEAD_LETTER_CONDITIONS[state];
}

/** How far the clock that makes ids may be from the database's, which makes `created_at`. */
const CLOCK_SLACK_MS = 3_600_000;

/** Ids begin with their time: with the bound on them nothing else is read. */
function since(from: Date): Condition {
  return sql<boolean>`generations.created_at >= ${from} and generations.id >= ${firstIdOf(from.getTime() - CLOCK_SLACK_MS)}`;
}

function before(until: Date): Condition {
  return sql<boolean>`generations.created_at < ${until} and generations.id < ${firstIdOf(until.getTime() + CLOCK_SLACK_MS)}`;
}

/** RFC 9562: a UUIDv7 begins with 48 bits of milliseconds. */
function firstIdOf(timeMs: number): string {
  const time = Math.max(0, timeMs).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

function hasLabel(key: string, value: string): Condition {
  return sql<boolean>`exists (
    select from generation_labels as label
    where label.tenant_id = generations.tenant_id and label.key = ${key} and label.value = ${value}
      and label.generation_id = generations.id
  )`;
}

/** The key of a cancel stands for what it cancelled, not for what it made. */
function wasSentWith(key: string): Condition {
  return sql<boolean>`exists (
    select from idempotency_keys as sent
    where sent.tenant_id = generations.tenant_id and sent.key = ${key} and sent.generation_id = generations.id
      and sent.path not like '%/cancel'
  )`;
}
