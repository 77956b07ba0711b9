-- Generated from the catalogue by `npm run schema`; the migrations are what runs.

CREATE OR REPLACE FUNCTION public.current_tenant()
 RETURNS uuid
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid
;

create table admin_keys (
  id uuid not null,
  key_id text not null,
  secret_hash bytea not null,
  name text not null,
  scopes text[] not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  constraint admin_keys_pkey PRIMARY KEY (id),
  constraint admin_keys_key_id_key UNIQUE (key_id)
);
alter table admin_keys enable row level security;
alter table admin_keys force row level security;
create policy admin_lists on admin_keys for all to shiftwork_admin using (true) with check (true);
create policy find_by_key_id on admin_keys for select to shiftwork_api using ((key_id = NULLIF(current_setting('app.key_id'::text, true), ''::text)));
grant delete, insert, select, update on admin_keys to shiftwork_admin;
grant select on admin_keys to shiftwork_api;

create table api_keys (
  tenant_id uuid not null,
  id uuid not null,
  key_id text not null,
  secret_hash bytea not null,
  name text not null,
  scopes text[] not null,
  owner_id text,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  constraint api_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
  constraint api_keys_pkey PRIMARY KEY (tenant_id, id),
  constraint api_keys_key_id_key UNIQUE (key_id)
);
alter table api_keys enable row level security;
alter table api_keys force row level security;
create policy admin_lists on api_keys for all to shiftwork_admin using (true) with check (true);
create policy find_by_key_id on api_keys for select to shiftwork_api using ((key_id = NULLIF(current_setting('app.key_id'::text, true), ''::text)));
create policy tenant_isolation on api_keys for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
grant delete, insert, select, update on api_keys to shiftwork_admin;
grant select on api_keys to shiftwork_api;

create table bulk_actions (
  tenant_id uuid not null,
  id uuid not null,
  owner_id text,
  api_key_id uuid not null,
  request_id text not null,
  action text not null,
  target jsonb not null,
  note text,
  status text not null default 'queued'::text,
  total integer not null,
  total_capped boolean not null,
  done integer not null default 0,
  succeeded integer not null default 0,
  skipped integer not null default 0,
  failed integer not null default 0,
  failures jsonb not null default '{}'::jsonb,
  last_generation_id uuid,
  created_at timestamp with time zone not null default now(),
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  lease_holder uuid,
  lease_expires_at timestamp with time zone,
  skips jsonb not null default '{}'::jsonb,
  constraint bulk_actions_action_check CHECK ((action = ANY (ARRAY['cancel'::text, 'retry'::text, 'discard'::text]))),
  constraint bulk_actions_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'completed'::text, 'aborted'::text]))),
  constraint bulk_actions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
  constraint bulk_actions_pkey PRIMARY KEY (tenant_id, id)
);
CREATE INDEX bulk_actions_unfinished ON public.bulk_actions USING btree (id) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]));
alter table bulk_actions enable row level security;
alter table bulk_actions force row level security;
create policy take_up on bulk_actions for all to shiftwork_admin using (true) with check (true);
create policy tenant_isolation on bulk_actions for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
grant select, update on bulk_actions to shiftwork_admin;
grant insert, select, update on bulk_actions to shiftwork_api;
grant delete, select, update on bulk_actions to shiftwork_worker;

create table characters (
  tenant_id uuid not null,
  id uuid not null,
  name text not null,
  data jsonb not null,
  source jsonb,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  settings jsonb not null default '{}'::jsonb,
  constraint characters_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
  constraint characters_pkey PRIMARY KEY (tenant_id, id)
);
alter table characters enable row level security;
alter table characters force row level security;
create policy tenant_isolation on characters for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
grant delete, insert, select, update on characters to shiftwork_api;
grant delete, insert, select, update on characters to shiftwork_worker;

create table chat_branches (
  tenant_id uuid not null,
  chat_id uuid not null,
  branch integer not null,
  parent_branch integer not null,
  fork_seq integer not null,
  created_at timestamp with time zone not null default now(),
  constraint chat_branches_branch_check CHECK ((branch > 0)),
  constraint chat_branches_check CHECK (((parent_branch >= 0) AND (parent_branch < branch))),
  constraint chat_branches_fork_seq_check CHECK ((fork_seq >= 0)),
  constraint chat_branches_tenant_id_chat_id_fkey FOREIGN KEY (tenant_id, chat_id) REFERENCES chats(tenant_id, id) ON DELETE CASCADE,
  constraint chat_branches_pkey PRIMARY KEY (tenant_id, chat_id, branch)
);
alter table chat_branches enable row level security;
alter table chat_branches force row level security;
create policy tenant_isolation on chat_branches for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
grant delete, insert, select, update on chat_branches to shiftwork_api;
grant delete, insert, select, update on chat_branches to shiftwork_worker;

create table chats (
  tenant_id uuid not null,
  id uuid not null,
  title text not null default ''::text,
  character_id uuid,
  persona_id uuid,
  owner_id text,
  revision bigint not null default 0,
  settings jsonb not null default '{}'::jsonb,
  metadata jsonb not null default '{}'::jsonb,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  active_branch integer not null default 0,
  constraint chats_tenant_id_character_id_fkey FOREIGN KEY (tenant_id, character_id) REFERENCES characters(tenant_id, id),
  constraint chats_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
  constraint chats_tenant_id_persona_id_fkey FOREIGN KEY (tenant_id, persona_id) REFERENCES personas(tenant_id, id),
  constraint chats_pkey PRIMARY KEY (tenant_id, id)
);
alter table chats enable row level security;
alter table chats force row level security;
create policy tenant_isolation on chats for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
grant delete, insert, select, update on chats to shiftwork_api;
grant delete, insert, select, update on chats to shiftwork_worker;

create table dispatch_room (
  queue text not null,
  free integer not null,
  published_at timestamp with time zone not null default now(),
  constraint dispatch_room_free_check CHECK ((free >= 0)),
  constraint dispatch_room_pkey PRIMARY KEY (queue)
) with (fillfactor=50);
alter table dispatch_room enable row level security;
alter table dispatch_room force row level security;
create policy shiftwork_api_room on dispatch_room for all to shiftwork_api using (true) with check (true);
create policy shiftwork_worker_room on dispatch_room for all to shiftwork_worker using (true) with check (true);
grant select, update on dispatch_room to shiftwork_api;
grant select, update on dispatch_room to shiftwork_worker;

create table embedding_requests (
  tenant_id uuid not null,
  chat_id uuid not null,
  with_lore boolean not null,
  asks integer not null default 1,
  failures integer not null default 0,
  requested_at timestamp with time zone not null default now(),
  next_try_at timestamp with time zone not null default now(),
  constraint embedding_requests_tenant_id_chat_id_fkey FOREIGN KEY (tenant_id, chat_id) REFERENCES chats(tenant_id, id) ON DELETE CASCADE,
  constraint embedding_requests_pkey PRIMARY KEY (tenant_id, chat_id)
);
CREATE INDEX embedding_requests_by_time ON public.embedding_requests USING btree (next_try_at);
alter table embedding_requests enable row level security;
alter table embedding_requests force row level security;
create policy tenant_isolation on embedding_requests for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
create policy worker_across_tenants on embedding_requests for select to shiftwork_worker using (true);
grant delete, insert, select, update on embedding_requests to shiftwork_api;
grant delete, insert, select, update on embedding_requests to shiftwork_worker;

create table embeddings (
  tenant_id uuid not null,
  key bytea not null,
  vector bytea not null,
  used_on date not null default CURRENT_DATE,
  constraint embeddings_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
  constraint embeddings_pkey PRIMARY KEY (tenant_id, key)
);
CREATE INDEX embeddings_by_use ON public.embeddings USING btree (tenant_id, used_on);
alter table embeddings enable row level security;
alter table embeddings force row level security;
create policy tenant_isolation on embeddings for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
grant delete, insert, select, update on embeddings to shiftwork_api;
grant delete, insert, select, update on embeddings to shiftwork_worker;

create table error_states (
  tenant_id uuid not null,
  fingerprint text not null,
  state text not null,
  changed_at timestamp with time zone not null default now(),
  constraint error_states_state_check CHECK ((state = ANY (ARRAY['open'::text, 'resolved'::text, 'ignored'::text]))),
  constraint error_states_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
  constraint error_states_pkey PRIMARY KEY (tenant_id, fingerprint)
);
alter table error_states enable row level security;
alter table error_states force row level security;
create policy admin_lists on error_states for select to shiftwork_admin using (true);
create policy tenant_isolation on error_states for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
grant select on error_states to shiftwork_admin;
grant insert, select, update on error_states to shiftwork_api;

create table generation_attempts (
  tenant_id uuid not null,
  generation_id uuid not null,
  attempt integer not null,
  fence integer not null,
  worker_id uuid not null,
  started_at timestamp with time zone not null default now(),
  ended_at timestamp with time zone,
  outcome text,
  error_code text,
  input_tokens integer,
  output_tokens integer,
  cache_read_tokens integer,
  constraint generation_attempts_outcome_check CHECK ((outcome = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text, 'lost'::text, 'handed_back'::text]))),
  constraint generation_attempts_tenant_id_generation_id_fkey FOREIGN KEY (tenant_id, generation_id) REFERENCES generations(tenant_id, id) ON DELETE CASCADE,
  constraint generation_attempts_pkey PRIMARY KEY (tenant_id, generation_id, fence)
);
alter table generation_attempts enable row level security;
alter table generation_attempts force row level security;
create policy tenant_isolation on generation_attempts for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
create policy worker_across_tenants on generation_attempts for all to shiftwork_worker using (true) with check (true);
grant delete, insert, select, update on generation_attempts to shiftwork_api;
grant delete, insert, select, update on generation_attempts to shiftwork_worker;

create table generation_contents (
  tenant_id uuid not null,
  generation_id uuid not null,
  chat_id uuid not null,
  request jsonb not null,
  pending_message jsonb,
  replay json,
  constraint generation_contents_tenant_id_chat_id_fkey FOREIGN KEY (tenant_id, chat_id) REFERENCES chats(tenant_id, id) ON DELETE CASCADE,
  constraint generation_contents_tenant_id_generation_id_fkey FOREIGN KEY (tenant_id, generation_id) REFERENCES generations(tenant_id, id) ON DELETE CASCADE,
  constraint generation_contents_pkey PRIMARY KEY (tenant_id, generation_id)
);
alter table generation_contents enable row level security;
alter table generation_contents force row level security;
create policy tenant_isolation on generation_contents for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
grant delete, insert, select, update on generation_contents to shiftwork_api;
grant delete, insert, select, update on generation_contents to shiftwork_worker;

create unlogged table generation_events (
  tenant_id uuid not null,
  generation_id uuid not null,
  seq integer not null,
  type text not null,
  data jsonb not null,
  created_at timestamp with time zone not null default now(),
  constraint generation_events_pkey PRIMARY KEY (tenant_id, generation_id, seq)
);
CREATE INDEX generation_events_by_age ON public.generation_events USING btree (created_at);
alter table generation_events enable row level security;
alter table generation_events force row level security;
create policy tenant_isolation on generation_events for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
grant delete, insert, select, update on generation_events to shiftwork_api;
grant delete, insert, select, update on generation_events to shiftwork_worker;

create table generation_labels (
  tenant_id uuid not null,
  generation_id uuid not null,
  key text not null,
  value text not null,
  constraint generation_labels_tenant_id_generation_id_fkey FOREIGN KEY (tenant_id, generation_id) REFERENCES generations(tenant_id, id) ON DELETE CASCADE,
  constraint generation_labels_pkey PRIMARY KEY (tenant_id, key, value, generation_id)
);
CREATE INDEX generation_labels_by_generation ON public.generation_labels USING btree (tenant_id, generation_id);
alter table generation_labels enable row level security;
alter table generation_labels force row level security;
create policy admin_lists on generation_labels for select to shiftwork_admin using (true);
create policy tenant_isolation on generation_labels for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
create policy worker_across_tenants on generation_labels for all to shiftwork_worker using (true) with check (true);
grant select on generation_labels to shiftwork_admin;
grant delete, insert, select, update on generation_labels to shiftwork_api;
grant delete, insert, select, update on generation_labels to shiftwork_worker;

create table generation_reasons (
  tenant_id uuid not null,
  generation_id uuid not null,
  source text not null,
  reason text not null,
  included boolean not null,
  count integer not null,
  constraint generation_reasons_tenant_id_generation_id_fkey FOREIGN KEY (tenant_id, generation_id) REFERENCES generations(tenant_id, id) ON DELETE CASCADE,
  constraint generation_reasons_pkey PRIMARY KEY (tenant_id, reason, generation_id, source, included)
);
CREATE INDEX generation_reasons_by_generation ON public.generation_reasons USING btree (tenant_id, generation_id);
alter table generation_reasons enable row level security;
alter table generation_reasons force row level security;
create policy tenant_isolation on generation_reasons for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
create policy worker_across_tenants on generation_reasons for all to shiftwork_worker using (true) with check (true);
grant delete, insert, select, update on generation_reasons to shiftwork_api;
grant delete, insert, select, update on generation_reasons to shiftwork_worker;

create table generation_summaries (
  tenant_id uuid not null,
  generation_id uuid not null,
  chat_id uuid not null,
  source_hash text not null,
  text text not null,
  created_at timestamp with time zone not null default now(),
  constraint generation_summaries_tenant_id_chat_id_fkey FOREIGN KEY (tenant_id, chat_id) REFERENCES chats(tenant_id, id) ON DELETE CASCADE,
  constraint generation_summaries_tenant_id_generation_id_fkey FOREIGN KEY (tenant_id, generation_id) REFERENCES generations(tenant_id, id) ON DELETE CASCADE,
  constraint generation_summaries_pkey PRIMARY KEY (tenant_id, generation_id)
);
CREATE INDEX generation_summaries_by_chat ON public.generation_summaries USING btree (tenant_id, chat_id);
alter table generation_summaries enable row level security;
alter table generation_summaries force row level security;
create policy tenant_isolation on generation_summaries for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
grant delete, insert, select, update on generation_summaries to shiftwork_api;
grant delete, insert, select, update on generation_summaries to shiftwork_worker;

create table generations (
  tenant_id uuid not null,
  id uuid not null,
  chat_id uuid,
  owner_id text,
  status text not null default 'queued'::text,
  action text not null,
  provider_id uuid not null,
  provider_kind text not null,
  model text not null,
  strategy text not null,
  seed text not null,
  epoch integer not null default 0,
  fence integer not null default 0,
  attempts integer not null default 0,
  max_attempts integer not null default 3,
  worker_id uuid,
  input_message_id uuid,
  output_message_id uuid,
  retry_of uuid,
  created_at timestamp with time zone not null default now(),
  dispatched_at timestamp with time zone,
  started_at timestamp with time zone,
  first_token_at timestamp with time zone,
  finished_at timestamp with time zone,
  deadline_at timestamp with time zone not null,
  cancel_requested_at timestamp with time zone,
  cancel_reason text,
  error jsonb,
  error_code text,
  finish_reason text,
  input_tokens integer,
  output_tokens integer,
  cache_read_tokens integer,
  context jsonb,
  stages jsonb,
  metadata jsonb,
  request_id text,
  anchor_message_id uuid,
  priority smallint not null default 5,
  not_before timestamp with time zone,
  blocked_by uuid,
  error_fingerprint text,
  dead_letter text,
  dead_letter_note text,
  told_waits integer not null default 0,
  approximate boolean default 
CASE
    WHEN (finished_at IS NOT NULL) THEN ((context #>> '{tokenizer,approximate}'::text[]))::boolean
    ELSE NULL::boolean
END,
  truncated boolean default 
CASE
    WHEN (finished_at IS NOT NULL) THEN (((context #>> '{counts,truncated}'::text[]))::integer > 0)
    ELSE NULL::boolean
END,
  error_origin text default (error ->> 'origin'::text),
  branch integer,
  target_message_id uuid,
  constraint generations_blocked_only_queued CHECK (((blocked_by IS NULL) OR (status <> ALL (ARRAY['running'::text, 'completed'::text])))),
  constraint generations_dead_letter_check CHECK ((dead_letter = ANY (ARRAY['open'::text, 'retried'::text, 'discarded'::text]))),
  constraint generations_dead_letter_only_failed CHECK (((dead_letter IS NULL) OR (status = 'failed'::text))),
  constraint generations_fingerprint_only_failed CHECK (((error_fingerprint IS NULL) OR (status = 'failed'::text))),
  constraint generations_priority_check CHECK (((priority >= 1) AND (priority <= 9))),
  constraint generations_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'completed'::text, 'failed'::text, 'cancelled'::text]))),
  constraint generations_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
  constraint generations_pkey PRIMARY KEY (tenant_id, id),
  constraint generations_id_key UNIQUE (id)
) with (fillfactor=70);
CREATE INDEX generations_active_by_chat ON public.generations USING btree (tenant_id, chat_id) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]));
CREATE INDEX generations_blocked ON public.generations USING btree (tenant_id, blocked_by) WHERE (blocked_by IS NOT NULL);
CREATE INDEX generations_by_chat ON public.generations USING btree (tenant_id, chat_id, id DESC);
CREATE INDEX generations_by_deadline ON public.generations USING btree (deadline_at) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]));
CREATE INDEX generations_by_fingerprint ON public.generations USING btree (tenant_id, error_fingerprint, id DESC) WHERE (error_fingerprint IS NOT NULL);
CREATE INDEX generations_dead_letters ON public.generations USING btree (tenant_id, id) WHERE (dead_letter = 'open'::text);
CREATE INDEX generations_ended ON public.generations USING btree (tenant_id, id) INCLUDE (status, model, provider_id, strategy, approximate, truncated, error_code, error_origin, created_at, started_at, finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX generations_failed_or_cancelled ON public.generations USING btree (tenant_id, status, id DESC) WHERE (status = ANY (ARRAY['failed'::text, 'cancelled'::text]));
CREATE INDEX generations_in_flight ON public.generations USING btree (tenant_id, dispatched_at) WHERE ((status = 'running'::text) OR ((status = 'queued'::text) AND (dispatched_at IS NOT NULL)));
CREATE INDEX generations_running_by_worker ON public.generations USING btree (worker_id) WHERE (status = 'running'::text);
CREATE INDEX generations_told_waits ON public.generations USING btree (not_before) WHERE ((status = 'queued'::text) AND (dispatched_at IS NULL) AND (blocked_by IS NULL) AND (not_before IS NOT NULL));
CREATE INDEX generations_undispatched ON public.generations USING btree (tenant_id, priority, id) WHERE ((status = 'queued'::text) AND (dispatched_at IS NULL) AND (blocked_by IS NULL) AND (not_before IS NULL));
CREATE UNIQUE INDEX generations_one_active_per_chat ON public.generations USING btree (tenant_id, chat_id) WHERE ((status = ANY (ARRAY['queued'::text, 'running'::text])) AND (blocked_by IS NULL));
alter table generations enable row level security;
alter table generations force row level security;
create policy admin_lists on generations for select to shiftwork_admin using (true);
create policy tenant_isolation on generations for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
create policy worker_across_tenants on generations for all to shiftwork_worker using (true) with check (true);
grant select on generations to shiftwork_admin;
grant delete, insert, select, update on generations to shiftwork_api;
grant delete, insert, select, update on generations to shiftwork_worker;

create table idempotency_keys (
  tenant_id uuid not null,
  method text not null,
  path text not null,
  key text not null,
  fingerprint bytea not null,
  generation_id uuid,
  status integer not null,
  body jsonb not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  constraint idempotency_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
  constraint idempotency_keys_pkey PRIMARY KEY (tenant_id, method, path, key)
);
CREATE INDEX idempotency_keys_by_expiry ON public.idempotency_keys USING btree (expires_at);
CREATE INDEX idempotency_keys_by_key ON public.idempotency_keys USING btree (tenant_id, key) WHERE (generation_id IS NOT NULL);
alter table idempotency_keys enable row level security;
alter table idempotency_keys force row level security;
create policy admin_lists on idempotency_keys for select to shiftwork_admin using (true);
create policy tenant_isolation on idempotency_keys for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
grant delete, insert, select, update on idempotency_keys to shiftwork_api;
grant delete, insert, select, update on idempotency_keys to shiftwork_worker;

create table imports (
  tenant_id uuid not null,
  id uuid not null,
  kind text not null,
  file_name text,
  result jsonb not null,
  warnings jsonb not null default '[]'::jsonb,
  created_at timestamp with time zone not null default now(),
  constraint imports_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
  constraint imports_pkey PRIMARY KEY (tenant_id, id)
);
alter table imports enable row level security;
alter table imports force row level security;
create policy tenant_isolation on imports for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
grant delete, insert, select, update on imports to shiftwork_api;
grant delete, insert, select, update on imports to shiftwork_worker;

create table leases (
  name text not null,
  holder uuid not null,
  expires_at timestamp with time zone not null,
  constraint leases_pkey PRIMARY KEY (name)
) with (fillfactor=50);
alter table leases enable row level security;
alter table leases force row level security;
create policy admin_lists on leases for select to shiftwork_admin using (true);
create policy workers_only on leases for all to shiftwork_worker using (true) with check (true);
grant select on leases to shiftwork_admin;
grant delete, insert, select, update on leases to shiftwork_worker;

create table lorebook_bindings (
  tenant_id uuid not null,
  lorebook_id uuid not null,
  chat_id uuid,
  persona_id uuid,
  character_id uuid,
  created_at timestamp with time zone not null default now(),
  constraint lorebook_bindings_check CHECK ((num_nonnulls(chat_id, persona_id, character_id) <= 1)),
  constraint lorebook_bindings_tenant_id_character_id_fkey FOREIGN KEY (tenant_id, character_id) REFERENCES characters(tenant_id, id) ON DELETE CASCADE,
  constraint lorebook_bindings_tenant_id_chat_id_fkey FOREIGN KEY (tenant_id, chat_id) REFERENCES chats(tenant_id, id) ON DELETE CASCADE,
  constraint lorebook_bindings_tenant_id_lorebook_id_fkey FOREIGN KEY (tenant_id, lorebook_id) REFERENCES lorebooks(tenant_id, id) ON DELETE CASCADE,
  constraint lorebook_bindings_tenant_id_persona_id_fkey FOREIGN KEY (tenant_id, persona_id) REFERENCES personas(tenant_id, id) ON DELETE CASCADE,
  constraint lorebook_bindings_tenant_id_lorebook_id_chat_id_persona_id__key UNIQUE NULLS NOT DISTINCT (tenant_id, lorebook_id, chat_id, persona_id, character_id)
);
alter table lorebook_bindings enable row level security;
alter table lorebook_bindings force row level security;
create policy tenant_isolation on lorebook_bindings for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
grant delete, insert, select, update on lorebook_bindings to shiftwork_api;
grant delete, insert, select, update on lorebook_bindings to shiftwork_worker;

create table lorebook_entries (
  tenant_id uuid not null,
  id uuid not null,
  lorebook_id uuid not null,
  uid integer not null,
  data jsonb not null,
  source jsonb,
  created_at timestamp with time zone not null default now(),
  constraint lorebook_entries_tenant_id_lorebook_id_fkey FOREIGN KEY (tenant_id, lorebook_id) REFERENCES lorebooks(tenant_id, id) ON DELETE CASCADE,
  constraint lorebook_entries_pkey PRIMARY KEY (tenant_id, id),
  constraint lorebook_entries_tenant_id_lorebook_id_uid_key UNIQUE (tenant_id, lorebook_id, uid)
);
alter table lorebook_entries enable row level security;
alter table lorebook_entries force row level security;
create policy tenant_isolation on lorebook_entries for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
grant delete, insert, select, update on lorebook_entries to shiftwork_api;
grant delete, insert, select, update on lorebook_entries to shiftwork_worker;

create table lorebooks (
  tenant_id uuid not null,
  id uuid not null,
  name text not null,
  scan_depth integer,
  budget_tokens integer,
  word_boundaries text not null default 'unicode'::text,
  source jsonb,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint lorebooks_budget_tokens_check CHECK ((budget_tokens > 0)),
  constraint lorebooks_scan_depth_check CHECK ((scan_depth >= 0)),
  constraint lorebooks_word_boundaries_check CHECK ((word_boundaries = ANY (ARRAY['unicode'::text, 'ascii'::text]))),
  constraint lorebooks_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
  constraint lorebooks_pkey PRIMARY KEY (tenant_id, id)
);
alter table lorebooks enable row level security;
alter table lorebooks force row level security;
create policy tenant_isolation on lorebooks for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
grant delete, insert, select, update on lorebooks to shiftwork_api;
grant delete, insert, select, update on lorebooks to shiftwork_worker;

create table memories (
  tenant_id uuid not null,
  id uuid not null,
  chat_id uuid,
  character_id uuid,
  content text not null,
  pinned boolean not null default false,
  source_message_id uuid,
  created_at timestamp with time zone not null default now(),
  constraint memories_check CHECK ((num_nonnulls(chat_id, character_id) = 1)),
  constraint memories_tenant_id_character_id_fkey FOREIGN KEY (tenant_id, character_id) REFERENCES characters(tenant_id, id) ON DELETE CASCADE,
  constraint memories_tenant_id_chat_id_fkey FOREIGN KEY (tenant_id, chat_id) REFERENCES chats(tenant_id, id) ON DELETE CASCADE,
  constraint memories_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
  constraint memories_pkey PRIMARY KEY (tenant_id, id)
);
CREATE INDEX memories_by_character ON public.memories USING btree (tenant_id, character_id) WHERE (character_id IS NOT NULL);
CREATE INDEX memories_by_chat ON public.memories USING btree (tenant_id, chat_id) WHERE (chat_id IS NOT NULL);
alter table memories enable row level security;
alter table memories force row level security;
create policy tenant_isolation on memories for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
grant delete, insert, select, update on memories to shiftwork_api;
grant delete, insert, select, update on memories to shiftwork_worker;

create table messages (
  tenant_id uuid not null,
  id uuid not null,
  chat_id uuid not null,
  branch integer not null default 0,
  seq integer not null,
  variant integer not null default 0,
  active boolean not null default true,
  role text not null,
  content text not null,
  name text,
  tool_calls jsonb not null default '[]'::jsonb,
  tool_call_id text,
  pinned boolean not null default false,
  hidden boolean not null default false,
  partial boolean not null default false,
  failed boolean not null default false,
  generation_id uuid,
  meta jsonb not null default '{}'::jsonb,
  created_at timestamp with time zone not null default now(),
  constraint messages_role_check CHECK ((role = ANY (ARRAY['system'::text, 'user'::text, 'assistant'::text, 'tool'::text]))),
  constraint messages_seq_check CHECK ((seq > 0)),
  constraint messages_variant_check CHECK ((variant >= 0)),
  constraint messages_tenant_id_chat_id_fkey FOREIGN KEY (tenant_id, chat_id) REFERENCES chats(tenant_id, id) ON DELETE CASCADE,
  constraint messages_pkey PRIMARY KEY (tenant_id, id),
  constraint messages_tenant_id_chat_id_branch_seq_variant_key UNIQUE (tenant_id, chat_id, branch, seq, variant)
);
CREATE INDEX messages_of_tool_use ON public.messages USING btree (tenant_id, chat_id, branch, seq) WHERE (active AND ((tool_call_id IS NOT NULL) OR (tool_calls <> '[]'::jsonb)));
CREATE INDEX messages_set_apart ON public.messages USING btree (tenant_id, chat_id, branch, seq) WHERE (active AND (pinned OR hidden OR (role = 'system'::text) OR ((meta ->> 'manualExcluded'::text) = 'true'::text)));
CREATE UNIQUE INDEX messages_one_active_variant ON public.messages USING btree (tenant_id, chat_id, branch, seq) WHERE active;
CREATE UNIQUE INDEX messages_one_reply_per_generation ON public.messages USING btree (tenant_id, generation_id) WHERE (generation_id IS NOT NULL);
alter table messages enable row level security;
alter table messages force row level security;
create policy tenant_isolation on messages for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
grant delete, insert, select, update on messages to shiftwork_api;
grant delete, insert, select, update on messages to shiftwork_worker;

create table personas (
  tenant_id uuid not null,
  id uuid not null,
  name text not null,
  description text not null default ''::text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint personas_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
  constraint personas_pkey PRIMARY KEY (tenant_id, id)
);
alter table personas enable row level security;
alter table personas force row level security;
create policy tenant_isolation on personas for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
grant delete, insert, select, update on personas to shiftwork_api;
grant delete, insert, select, update on personas to shiftwork_worker;

create table prompt_context_audits (
  tenant_id uuid not null,
  chat_id uuid not null,
  slot text not null,
  generation_id uuid not null,
  attempt integer not null,
  status text not null,
  error_code text,
  provider_id uuid not null,
  provider_kind text not null,
  model text not null,
  strategy text not null,
  tokenizer_profile text not null,
  approximate boolean not null,
  context_limit integer not null,
  reserved_for_reply integer not null,
  prompt_tokens integer,
  included integer not null,
  excluded integer not null,
  summarised integer not null,
  truncated integer not null,
  assembly_hash text,
  prefix_hash text,
  created_at timestamp with time zone not null default now(),
  finished_at timestamp with time zone,
  document bytea not null storage e,
  patch jsonb not null default '{}'::jsonb,
  constraint prompt_context_audits_slot_check CHECK ((slot = ANY (ARRAY['prepared'::text, 'finished'::text]))),
  constraint prompt_context_audits_status_check CHECK ((status = ANY (ARRAY['prepared'::text, 'completed'::text, 'failed'::text, 'cancelled'::text]))),
  constraint prompt_context_audits_tenant_id_chat_id_fkey FOREIGN KEY (tenant_id, chat_id) REFERENCES chats(tenant_id, id) ON DELETE CASCADE,
  constraint prompt_context_audits_pkey PRIMARY KEY (tenant_id, chat_id, slot)
);
CREATE INDEX prompt_context_audits_by_generation ON public.prompt_context_audits USING btree (tenant_id, generation_id);
CREATE INDEX prompt_context_audits_prepared ON public.prompt_context_audits USING btree (tenant_id, generation_id) WHERE (slot = 'prepared'::text);
alter table prompt_context_audits enable row level security;
alter table prompt_context_audits force row level security;
create policy admin_lists on prompt_context_audits for select to shiftwork_admin using (true);
create policy tenant_isolation on prompt_context_audits for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
grant delete, insert, select, update on prompt_context_audits to shiftwork_api;
grant delete, insert, select, update on prompt_context_audits to shiftwork_worker;

create table providers (
  tenant_id uuid not null,
  id uuid not null,
  name text not null,
  kind text not null,
  base_url text not null default ''::text,
  secret bytea,
  allow_private_network boolean not null default false,
  models jsonb not null default '[]'::jsonb,
  created_at timestamp with time zone not null default now(),
  constraint providers_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
  constraint providers_pkey PRIMARY KEY (tenant_id, id)
);
alter table providers enable row level security;
alter table providers force row level security;
create policy admin_lists on providers for all to shiftwork_admin using (true) with check (true);
create policy tenant_isolation on providers for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
grant delete, insert, select, update on providers to shiftwork_admin;
grant select on providers to shiftwork_api;
grant select on providers to shiftwork_worker;

create table queues (
  name text not null,
  paused_at timestamp with time zone,
  constraint queues_pkey PRIMARY KEY (name)
);
alter table queues enable row level security;
alter table queues force row level security;
create policy shiftwork_admin_queues on queues for all to shiftwork_admin using (true) with check (true);
create policy shiftwork_api_queues on queues for all to shiftwork_api using (true) with check (true);
create policy shiftwork_worker_queues on queues for all to shiftwork_worker using (true) with check (true);
grant insert, select, update on queues to shiftwork_admin;
grant select on queues to shiftwork_api;
grant select on queues to shiftwork_worker;

create table tenant_settings (
  tenant_id uuid not null,
  settings jsonb not null default '{}'::jsonb,
  constraint tenant_settings_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
  constraint tenant_settings_pkey PRIMARY KEY (tenant_id)
);
alter table tenant_settings enable row level security;
alter table tenant_settings force row level security;
create policy admin_lists on tenant_settings for all to shiftwork_admin using (true) with check (true);
create policy tenant_isolation on tenant_settings for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
grant delete, insert, select, update on tenant_settings to shiftwork_admin;
grant insert, select, update on tenant_settings to shiftwork_api;
grant select on tenant_settings to shiftwork_worker;

create table tenants (
  id uuid not null,
  name text not null,
  max_concurrency integer not null default 16,
  max_queued integer not null default 10000,
  created_at timestamp with time zone not null default now(),
  weight integer not null default 1,
  concurrency_share integer,
  paused_at timestamp with time zone,
  constraint tenants_concurrency_share_check CHECK ((concurrency_share > 0)),
  constraint tenants_max_concurrency_check CHECK ((max_concurrency > 0)),
  constraint tenants_max_queued_check CHECK ((max_queued > 0)),
  constraint tenants_weight_check CHECK (((weight >= 1) AND (weight <= 100))),
  constraint tenants_pkey PRIMARY KEY (id)
);
alter table tenants enable row level security;
alter table tenants force row level security;
create policy admin_lists on tenants for all to shiftwork_admin using (true) with check (true);
create policy dispatch_limits on tenants for select to shiftwork_worker using (true);
create policy tenant_isolation on tenants for all to public using ((id = current_tenant())) with check ((id = current_tenant()));
grant delete, insert, select, update on tenants to shiftwork_admin;
grant select on tenants to shiftwork_api;
grant select on tenants to shiftwork_worker;

create table token_calibrations (
  tenant_id uuid not null,
  provider_id uuid not null,
  model text not null,
  profile text not null,
  profile_version integer not null,
  version integer not null,
  factor double precision not null,
  ratio double precision not null,
  samples integer not null,
  updated_at timestamp with time zone not null default now(),
  constraint token_calibrations_tenant_id_provider_id_fkey FOREIGN KEY (tenant_id, provider_id) REFERENCES providers(tenant_id, id) ON DELETE CASCADE,
  constraint token_calibrations_pkey PRIMARY KEY (tenant_id, provider_id, model)
);
alter table token_calibrations enable row level security;
alter table token_calibrations force row level security;
create policy tenant_isolation on token_calibrations for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
grant delete, insert, select, update on token_calibrations to shiftwork_api;
grant delete, insert, select, update on token_calibrations to shiftwork_worker;

create table tokenizers (
  tenant_id uuid not null,
  id uuid not null,
  name text not null,
  models text[] not null,
  size_bytes integer not null,
  file bytea not null storage e,
  created_at timestamp with time zone not null default now(),
  constraint tokenizers_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
  constraint tokenizers_pkey PRIMARY KEY (tenant_id, id)
);
alter table tokenizers enable row level security;
alter table tokenizers force row level security;
create policy tenant_isolation on tokenizers for all to public using ((tenant_id = current_tenant())) with check ((tenant_id = current_tenant()));
grant delete, insert, select, update on tokenizers to shiftwork_api;
grant delete, insert, select, update on tokenizers to shiftwork_worker;

create table workers (
  id uuid not null,
  host text not null,
  pid integer not null,
  slots integer not null,
  started_at timestamp with time zone not null default now(),
  heartbeat_at timestamp with time zone not null default now(),
  constraint workers_pkey PRIMARY KEY (id)
) with (fillfactor=50);
alter table workers enable row level security;
alter table workers force row level security;
create policy admin_lists on workers for select to shiftwork_admin using (true);
create policy workers_only on workers for all to shiftwork_worker using (true) with check (true);
grant select on workers to shiftwork_admin;
grant delete, insert, select, update on workers to shiftwork_worker;
