import { sql, type Kysely } from "kysely";

/** Rows a worker handles across tenants: ids, states, times, sums and codes, never text. */
const ACROSS_TENANTS = ["generations", "generation_attempts", "generation_labels", "generation_reasons"];
const UNDER_A_TENANT = ["generation_contents", "generation_events", "idempotency_keys", "prompt_context_audits"];

export async function up(db: Kysely<never>): Promise<void> {
  await createGenerations(db);
  await createAttemptsAndSideTables(db);
  await createEventsAndAudits(db);
  await createWorkers(db);

  for (const table of [...ACROSS_TENANTS, ...UNDER_A_TENANT]) {
    await sql`alter table ${sql.table(table)} enable row level security`.execute(db);
    await sql`alter table ${sql.table(table)} force row level security`.execute(db);
    await sql`
      create policy tenant_isolation on ${sql.table(table)}
      using (tenant_id = current_tenant()) with check (tenant_id = current_tenant())
    `.execute(db);
    await sql`grant select, insert, update, delete on ${sql.table(table)} to shiftwork_api, shiftwork_worker`.execute(
      db,
    );
  }
  for (const table of ACROSS_TENANTS) {
    await sql`create policy worker_across_tenants on ${sql.table(table)} to shiftwork_worker using (true) with check (true)`.execute(
      db,
    );
  }
}

/** The generation row is the outbox: undispatched rows are what the dispatcher looks for. It outlives its chat. */
async function createGenerations(db: Kysely<never>): Promise<void> {
  await sql`
    create table generations (
      tenant_id           uuid not null references tenants (id) on delete cascade,
      id                  uuid not null unique,
      chat_id             uuid,
      owner_id            text,
      status              text not null default 'queued'
                          check (status in ('queued', 'running', 'completed', 'failed', 'cancelled')),
      action              text not null,
      provider_id         uuid not null,
      provider_kind       text not null,
      model               text not null,
      strategy            text not null,
      seed                text not null,
      -- +1 per dispatch, in the queue's job id / +1 per claim, guards every late write / +1 per claim, bounded.
      epoch               integer not null default 0,
      fence               integer not null default 0,
      attempts            integer not null default 0,
      max_attempts        integer not null default 3,
      worker_id           uuid,
      input_message_id    uuid,
      output_message_id   uuid,
      retry_of            uuid,
      created_at          timestamptz not null default now(),
      dispatched_at       timestamptz,
      started_at          timestamptz,
      first_token_at      timestamptz,
      finished_at         timestamptz,
      deadline_at         timestamptz not null,
      cancel_requested_at timestamptz,
      cancel_reason       text,
      error               jsonb,
      error_code          text,
      finish_reason       text,
      input_tokens        integer,
      output_tokens       integer,
      cache_read_tokens   integer,
      -- Sums and counts of the assembled context, and the stages' times: what outlives the audit.
      context             jsonb,
      stages              jsonb,
      metadata            jsonb,
      request_id          text,
      primary key (tenant_id, id)
    ) with (fillfactor = 70)
  `.execute(db);
  await sql`create unique index generations_one_running_per_chat on generations (tenant_id, chat_id) where status = 'running'`.execute(
    db,
  );
  await sql`create index generations_active_by_chat on generations (tenant_id, chat_id) where status in ('queued', 'running')`.execute(
    db,
  );
  await sql`create index generations_undispatched on generations (tenant_id, id) where status = 'queued' and dispatched_at is null`.execute(
    db,
  );
  await sql`create index generations_in_flight on generations (tenant_id, dispatched_at) where status in ('queued', 'running')`.execute(
    db,
  );
  await sql`create index generations_running_by_worker on generations (worker_id) where status = 'running'`.execute(db);
  await sql`create index generations_by_deadline on generations (deadline_at) where status in ('queued', 'running')`.execute(
    db,
  );
  await sql`create index generations_by_chat on generations (tenant_id, chat_id, id desc)`.execute(db);
  // Content of the request, kept apart from the row that workers read across tenants; goes with the chat.
  await sql`
    create table generation_contents (
      tenant_id     uuid not null,
      generation_id uuid not null,
      chat_id       uuid not null,
      request       jsonb not null,
      primary key (tenant_id, generation_id),
      foreign key (tenant_id, generation_id) references generations (tenant_id, id) on delete cascade,
      foreign key (tenant_id, chat_id) references chats (tenant_id, id) on delete cascade
    )
  `.execute(db);
}

async function createAttemptsAndSideTables(db: Kysely<never>): Promise<void> {
  await sql`
    create table generation_attempts (
      tenant_id     uuid not null,
      generation_id uuid not null,
      attempt       integer not null,
      fence         integer not null,
      worker_id     uuid not null,
      started_at    timestamptz not null default now(),
      ended_at      timestamptz,
      outcome       text check (outcome in ('completed', 'failed', 'cancelled', 'lost')),
      error_code    text,
      input_tokens  integer,
      output_tokens integer,
      primary key (tenant_id, generation_id, fence),
      foreign key (tenant_id, generation_id) references generations (tenant_id, id) on delete cascade
    )
  `.execute(db);
  // Filters are b-tree equality on these: JSON operators are not leakproof and ignore indexes under row-level security.
  await sql`
    create table generation_labels (
      tenant_id     uuid not null,
      generation_id uuid not null,
      key           text not null,
      value         text not null,
      primary key (tenant_id, key, value, generation_id),
      foreign key (tenant_id, generation_id) references generations (tenant_id, id) on delete cascade
    )
  `.execute(db);
  await sql`
    create table generation_reasons (
      tenant_id     uuid not null,
      generation_id uuid not null,
      source        text not null,
      reason        text not null,
      included      boolean not null,
      count         integer not null,
      primary key (tenant_id, reason, generation_id, source, included),
      foreign key (tenant_id, generation_id) references generations (tenant_id, id) on delete cascade
    )
  `.execute(db);
  await sql`create index generation_reasons_by_generation on generation_reasons (tenant_id, generation_id)`.execute(db);
  await sql`create index generation_labels_by_generation on generation_labels (tenant_id, generation_id)`.execute(db);
  await sql`
    create table idempotency_keys (
      tenant_id     uuid not null references tenants (id) on delete cascade,
      method        text not null,
      path          text not null,
      key           text not null,
      fingerprint   bytea not null,
      generation_id uuid,
      status        integer not null,
      body          jsonb not null,
      created_at    timestamptz not null default now(),
      expires_at    timestamptz not null,
      primary key (tenant_id, method, path, key)
    )
  `.execute(db);
  await sql`create index idempotency_keys_by_expiry on idempotency_keys (expires_at)`.execute(db);
}

async function createEventsAndAudits(db: Kysely<never>): Promise<void> {
  // Unlogged and without a foreign key: it is a buffer for live readers, and every delta would lock the generation row.
  await sql`
    create unlogged table generation_events (
      tenant_id     uuid not null,
      generation_id uuid not null,
      seq           integer not null,
      type          text not null,
      data          jsonb not null,
      created_at    timestamptz not null default now(),
      primary key (tenant_id, generation_id, seq)
    )
  `.execute(db);
  await sql`create index generation_events_by_age on generation_events (created_at)`.execute(db);
  await sql`
    create table prompt_context_audits (
      tenant_id          uuid not null,
      chat_id            uuid not null,
      slot               text not null check (slot in ('prepared', 'finished')),
      generation_id      uuid not null,
      attempt            integer not null,
      status             text not null check (status in ('prepared', 'completed', 'failed', 'cancelled')),
      error_code         text,
      provider_id        uuid not null,
      provider_kind      text not null,
      model              text not null,
      strategy           text not null,
      tokenizer_profile  text not null,
      approximate        boolean not null,
      context_limit      integer not null,
      reserved_for_reply integer not null,
      prompt_tokens      integer,
      included           integer not null,
      excluded           integer not null,
      summarised         integer not null,
      truncated          integer not null,
      assembly_hash      text,
      prefix_hash        text,
      created_at         timestamptz not null default now(),
      finished_at        timestamptz,
      -- Written once, deflated; what is learned after the request left goes into the small patch.
      document           bytea not null,
      patch              jsonb not null default '{}',
      primary key (tenant_id, chat_id, slot),
      foreign key (tenant_id, chat_id) references chats (tenant_id, id) on delete cascade
    )
  `.execute(db);
  await sql`alter table prompt_context_audits alter column document set storage external`.execute(db);
  await sql`create index prompt_context_audits_by_generation on prompt_context_audits (tenant_id, generation_id)`.execute(
    db,
  );
}

async function createWorkers(db: Kysely<never>): Promise<void> {
  await sql`
    create table workers (
      id           uuid primary key,
      host         text not null,
      pid          integer not null,
      slots        integer not null,
      started_at   timestamptz not null default now(),
      heartbeat_at timestamptz not null default now()
    ) with (fillfactor = 50)
  `.execute(db);
  // Who may act for the whole cluster, and until when. A session lock would stay with a process that is frozen.
  await sql`
    create table leases (
      name       text primary key,
      holder     uuid not null,
      expires_at timestamptz not null
    ) with (fillfactor = 50)
  `.execute(db);
  for (const table of ["workers", "leases"]) {
    await sql`alter table ${sql.table(table)} enable row level security`.execute(db);
    await sql`alter table ${sql.table(table)} force row level security`.execute(db);
    await sql`create policy workers_only on ${sql.table(table)} to shiftwork_worker using (true) with check (true)`.execute(
      db,
    );
    await sql`create policy admin_lists on ${sql.table(table)} for select to shiftwork_admin using (true)`.execute(db);
    await sql`grant select, insert, update, delete on ${sql.table(table)} to shiftwork_worker`.execute(db);
    await sql`grant select on ${sql.table(table)} to shiftwork_admin`.execute(db);
  }
}
