import { uuidv7 } from "uuidv7";
import { sql } from "kysely";
import { writeTenantSettings } from "../queries/tenants.ts";
import type { Db, Tx } from "../transaction.ts";
import { withTenant } from "../transaction.ts";
import { insertTestGeneration, type TestChat } from "./test-rows.ts";

/** Adds to the chat's tenant a row in every table that holds a tenant's data and is still empty. */
export async function insertOneOfEverything(admin: Db, db: Db, chat: TestChat): Promise<void> {
  const generationId = await insertTestGeneration(db, chat);
  await withTenant(admin, chat.tenantId, async (tx) => {
    await writeTenantSettings(tx, chat.tenantId, { model: "echo-1" });
    await sql`
      insert into api_keys (tenant_id, id, key_id, secret_hash, name, scopes)
      values (${chat.tenantId}, ${uuidv7()}, ${uuidv7()}, '\\x00', 'test', '{}')
    `.execute(tx);
  });
  await withTenant(db, chat.tenantId, async (tx) => {
    await insertAuthored(tx, chat);
    await insertTraces(tx, chat, generationId);
  });
}

async function insertAuthored(tx: Tx, { tenantId, chatId, providerId }: TestChat): Promise<void> {
  const [characterId, bookId] = [uuidv7(), uuidv7()];
  await sql`insert into characters (tenant_id, id, name, data) values (${tenantId}, ${characterId}, 'A', '{}')`.execute(
    tx,
  );
  await sql`insert into personas (tenant_id, id, name) values (${tenantId}, ${uuidv7()}, 'P')`.execute(tx);
  await sql`insert into lorebooks (tenant_id, id, name) values (${tenantId}, ${bookId}, 'B')`.execute(tx);
  await sql`
    insert into lorebook_entries (tenant_id, id, lorebook_id, uid, data)
    values (${tenantId}, ${uuidv7()}, ${bookId}, 0, '{}')
  `.execute(tx);
  await sql`
    insert into lorebook_bindings (tenant_id, lorebook_id, character_id) values (${tenantId}, ${bookId}, ${characterId})
  `.execute(tx);
  await sql`
    insert into memories (tenant_id, id, chat_id, content) values (${tenantId}, ${uuidv7()}, ${chatId}, 'M')
  `.execute(tx);
  await sql`
    insert into chat_branches (tenant_id, chat_id, branch, parent_branch, fork_seq)
    values (${tenantId}, ${chatId}, 1, 0, 1)
  `.execute(tx);
  await sql`insert into embeddings (tenant_id, key, vector) values (${tenantId}, '\\x00', '\\x00')`.execute(tx);
  await sql`
    insert into embedding_requests (tenant_id, chat_id, with_lore) values (${tenantId}, ${chatId}, false)
  `.execute(tx);
  await sql`
    insert into tokenizers (tenant_id, id, name, models, size_bytes, file)
    values (${tenantId}, ${uuidv7()}, 'T', '{m}', 1, '\\x00')
  `.execute(tx);
  await sql`
    insert into token_calibrations
      (tenant_id, provider_id, model, profile, profile_version, version, factor, ratio, samples)
    values (${tenantId}, ${providerId}, 'm', 'p', 1, 1, 1, 1, 1)
  `.execute(tx);
  await sql`
    insert into imports (tenant_id, id, kind, result) values (${tenantId}, ${uuidv7()}, 'card', '{}')
  `.execute(tx);
}

async function insertTraces(tx: Tx, chat: TestChat, generationId: string): Promise<void> {
  const { tenantId, chatId, providerId } = chat;
  await sql`
    insert into generation_attempts (tenant_id, generation_id, attempt, fence, worker_id)
    values (${tenantId}, ${generationId}, 1, 1, ${uuidv7()})
  `.execute(tx);
  await sql`
    insert into generation_summaries (tenant_id, generation_id, chat_id, source_hash, text)
    values (${tenantId}, ${generationId}, ${chatId}, 'h', 'S')
  `.execute(tx);
  await sql`
    insert into generation_reasons (tenant_id, generation_id, source, reason, included, count)
    values (${tenantId}, ${generationId}, 'input', 'current_input', true, 1)
  `.execute(tx);
  await sql`
    insert into error_states (tenant_id, fingerprint, state) values (${tenantId}, 'f', 'ignored')
  `.execute(tx);
  await sql`
    insert into bulk_actions (tenant_id, id, api_key_id, request_id, action, target, total, total_capped)
    values (${tenantId}, ${uuidv7()}, ${uuidv7()}, 'req', 'cancel', '{}', 0, false)
  `.execute(tx);
  await sql`
    insert into idempotency_keys (tenant_id, method, path, key, fingerprint, status, body, expires_at)
    values (${tenantId}, 'POST', '/', 'k', '\\x00', 202, '{}', now() + interval '1 day')
  `.execute(tx);
  await sql`
    insert into prompt_context_audits (tenant_id, chat_id, slot, generation_id, attempt, status, provider_id, provider_kind,
      model, strategy, tokenizer_profile, approximate, context_limit, reserved_for_reply, included, excluded, summarised,
      truncated, document)
    values (${tenantId}, ${chatId}, 'prepared', ${generationId}, 1, 'prepared', ${providerId}, 'echo',
      'echo-1', 'truncate', 'p', false, 8192, 1024, 1, 0, 0, 0, '\\x00')
  `.execute(tx);
}
