import { sql, type Kysely } from "kysely";

const CONTENT_TABLES = [
  "characters",
  "personas",
  "lorebooks",
  "lorebook_entries",
  "chats",
  "lorebook_bindings",
  "messages",
  "memories",
  "imports",
];

/**
 * What a prompt is made of. `data` holds the field vocabulary the pipeline reads; `source` holds the imported object
 * untouched, so that nothing foreign is lost. Composite foreign keys carry the tenant: a second fence beside the policies.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await createCharactersAndLore(db);
  await createChats(db);
  await createMemoriesAndImports(db);
  for (const table of CONTENT_TABLES) {
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
}

async function createCharactersAndLore(db: Kysely<never>): Promise<void> {
  await sql`
    create table characters (
      tenant_id  uuid not null references tenants (id) on delete cascade,
      id         uuid not null,
      name       text not null,
      data       jsonb not null,
      source     jsonb,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      primary key (tenant_id, id)
    )
  `.execute(db);
  await sql`
    create table personas (
      tenant_id   uuid not null references tenants (id) on delete cascade,
      id          uuid not null,
      name        text not null,
      description text not null default '',
      created_at  timestamptz not null default now(),
      updated_at  timestamptz not null default now(),
      primary key (tenant_id, id)
    )
  `.execute(db);
  await sql`
    create table lorebooks (
      tenant_id       uuid not null references tenants (id) on delete cascade,
      id              uuid not null,
      name            text not null,
      scan_depth      integer check (scan_depth >= 0),
      budget_tokens   integer check (budget_tokens > 0),
      word_boundaries text not null default 'unicode' check (word_boundaries in ('unicode', 'ascii')),
      source          jsonb,
      created_at      timestamptz not null default now(),
      updated_at      timestamptz not null default now(),
      primary key (tenant_id, id)
    )
  `.execute(db);
  await sql`
    create table lorebook_entries (
      tenant_id   uuid not null,
      id          uuid not null,
      lorebook_id uuid not null,
      uid         integer not null,
      data        jsonb not null,
      source      jsonb,
      created_at  timestamptz not null default now(),
      primary key (tenant_id, id),
      unique (tenant_id, lorebook_id, uid),
      foreign key (tenant_id, lorebook_id) references lorebooks (tenant_id, id) on delete cascade
    )
  `.execute(db);
}

async function createChats(db: Kysely<never>): Promise<void> {
  await sql`
    create table chats (
      tenant_id    uuid not null references tenants (id) on delete cascade,
      id           uuid not null,
      title        text not null default '',
      character_id uuid,
      persona_id   uuid,
      owner_id     text,
      -- +1 whenever a message of the chat is added, changed or removed: a preview names the state it saw.
      revision     bigint not null default 0,
      settings     jsonb not null default '{}',
      metadata     jsonb not null default '{}',
      created_at   timestamptz not null default now(),
      updated_at   timestamptz not null default now(),
      primary key (tenant_id, id),
      foreign key (tenant_id, character_id) references characters (tenant_id, id),
      foreign key (tenant_id, persona_id) references personas (tenant_id, id)
    )
  `.execute(db);
  // Bound to one of chat, persona, character; to none of them = to every chat of the tenant.
  await sql`
    create table lorebook_bindings (
      tenant_id    uuid not null,
      lorebook_id  uuid not null,
      chat_id      uuid,
      persona_id   uuid,
      character_id uuid,
      created_at   timestamptz not null default now(),
      unique nulls not distinct (tenant_id, lorebook_id, chat_id, persona_id, character_id),
      check (num_nonnulls(chat_id, persona_id, character_id) <= 1),
      foreign key (tenant_id, lorebook_id) references lorebooks (tenant_id, id) on delete cascade,
      foreign key (tenant_id, chat_id) references chats (tenant_id, id) on delete cascade,
      foreign key (tenant_id, persona_id) references personas (tenant_id, id) on delete cascade,
      foreign key (tenant_id, character_id) references characters (tenant_id, id) on delete cascade
    )
  `.execute(db);
  await sql`
    create table messages (
      tenant_id     uuid not null,
      id            uuid not null,
      chat_id       uuid not null,
      branch        integer not null default 0,
      seq           integer not null check (seq > 0),
      variant       integer not null default 0 check (variant >= 0),
      active        boolean not null default true,
      role          text not null check (role in ('system', 'user', 'assistant', 'tool')),
      content       text not null,
      name          text,
      tool_calls    jsonb not null default '[]',
      tool_call_id  text,
      pinned        boolean not null default false,
      hidden        boolean not null default false,
      -- Text of a run that did not complete. A cancelled one is sent in later turns, a failed one is only shown.
      partial       boolean not null default false,
      failed        boolean not null default false,
      generation_id uuid,
      meta          jsonb not null default '{}',
      created_at    timestamptz not null default now(),
      primary key (tenant_id, id),
      unique (tenant_id, chat_id, branch, seq, variant),
      foreign key (tenant_id, chat_id) references chats (tenant_id, id) on delete cascade
    )
  `.execute(db);
  await sql`create unique index messages_one_active_variant on messages (tenant_id, chat_id, branch, seq) where active`.execute(
    db,
  );
  await sql`create unique index messages_one_reply_per_generation on messages (tenant_id, generation_id) where generation_id is not null`.execute(
    db,
  );
}

async function createMemoriesAndImports(db: Kysely<never>): Promise<void> {
  await sql`
    create table memories (
      tenant_id         uuid not null references tenants (id) on delete cascade,
      id                uuid not null,
      chat_id           uuid,
      character_id      uuid,
      content           text not null,
      pinned            boolean not null default false,
      source_message_id uuid,
      created_at        timestamptz not null default now(),
      primary key (tenant_id, id),
      check (num_nonnulls(chat_id, character_id) = 1),
      foreign key (tenant_id, chat_id) references chats (tenant_id, id) on delete cascade,
      foreign key (tenant_id, character_id) references characters (tenant_id, id) on delete cascade
    )
  `.execute(db);
  await sql`create index memories_by_chat on memories (tenant_id, chat_id) where chat_id is not null`.execute(db);
  await sql`create index memories_by_character on memories (tenant_id, character_id) where character_id is not null`.execute(
    db,
  );
  await sql`
    create table imports (
      tenant_id  uuid not null references tenants (id) on delete cascade,
      id         uuid not null,
      kind       text not null,
      file_name  text,
      result     jsonb not null,
      warnings   jsonb not null default '[]',
      created_at timestamptz not null default now(),
      primary key (tenant_id, id)
    )
  `.execute(db);
}
