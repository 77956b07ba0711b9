import { sql, type Kysely } from "kysely";

export async function up(db: Kysely<never>): Promise<void> {
  await sql`alter table generations add column anchor_message_id uuid`.execute(db);
  await createSummaries(db);
  await indexHistory(db);
}

/** A summary a model was paid for: the next attempt of the same generation takes it over. Content; gone when it ends. */
async function createSummaries(db: Kysely<never>): Promise<void> {
  await sql`
    create table generation_summaries (
      tenant_id     uuid not null,
      generation_id uuid not null,
      chat_id       uuid not null,
      -- Over summariser and source: another source, or another model, and it is not taken over.
      source_hash   text not null,
      text          text not null,
      created_at    timestamptz not null default now(),
      primary key (tenant_id, generation_id),
      foreign key (tenant_id, generation_id) references generations (tenant_id, id) on delete cascade,
      foreign key (tenant_id, chat_id) references chats (tenant_id, id) on delete cascade
    )
  `.execute(db);
  await sql`create index generation_summaries_by_chat on generation_summaries (tenant_id, chat_id)`.execute(db);
  await sql`alter table generation_summaries enable row level security`.execute(db);
  await sql`alter table generation_summaries force row level security`.execute(db);
  await sql`
    create policy tenant_isolation on generation_summaries
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant())
  `.execute(db);
  await sql`
    grant select, insert, update, delete on generation_summaries to shiftwork_api, shiftwork_worker
  `.execute(db);
}

/** What has to be found in a long branch without reading it: rows with a mark or a part of their own, and tool use. */
async function indexHistory(db: Kysely<never>): Promise<void> {
  await sql`
    create index messages_set_apart on messages (tenant_id, chat_id, branch, seq)
    where active and (pinned or hidden or role = 'system' or meta ->> 'manualExcluded' = 'true')
  `.execute(db);
  await sql`
    create index messages_of_tool_use on messages (tenant_id, chat_id, branch, seq)
    where active and (tool_call_id is not null or tool_calls <> '[]'::jsonb)
  `.execute(db);
}
