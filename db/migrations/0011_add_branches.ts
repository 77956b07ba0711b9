import { sql, type Kysely } from "kysely";

/** Chats that fork: a branch is its parent up to one position, and messages of its own behind it. */
export async function up(db: Kysely<never>): Promise<void> {
  await createBranches(db);
  await sql`alter table chats add column active_branch integer not null default 0`.execute(db);
  await sql`
    alter table generations
      -- The branch its reply goes on; null = that of the message it answers.
      add column branch integer,
      -- The reply that a regenerate or a swipe stands beside.
      add column target_message_id uuid
  `.execute(db);
}

async function createBranches(db: Kysely<never>): Promise<void> {
  await sql`
    create table chat_branches (
      tenant_id     uuid not null,
      chat_id       uuid not null,
      -- Branch 0 is every chat's first and has no row.
      branch        integer not null check (branch > 0),
      -- Older than the branch, so that no line of parents comes back to where it began.
      parent_branch integer not null check (parent_branch >= 0 and parent_branch < branch),
      -- The last position it shares with its parent, which stands on the parent itself; 0 = it shares none.
      fork_seq      integer not null check (fork_seq >= 0),
      created_at    timestamptz not null default now(),
      primary key (tenant_id, chat_id, branch),
      foreign key (tenant_id, chat_id) references chats (tenant_id, id) on delete cascade
    )
  `.execute(db);
  await sql`alter table chat_branches enable row level security`.execute(db);
  await sql`alter table chat_branches force row level security`.execute(db);
  await sql`
    create policy tenant_isolation on chat_branches
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant())
  `.execute(db);
  await sql`grant select, insert, update, delete on chat_branches to shiftwork_api, shiftwork_worker`.execute(db);
}
