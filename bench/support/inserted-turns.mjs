import { insertTenant, insertProvider, newId, withTenant } from "../../db/dist/src/index.js";

/**
 * A tenant with the echo provider.
 *
 * @param {import("../../db/dist/src/index.js").Database} admin as `shiftwork_admin`
 * @param {object} limits weight, maxConcurrency, …
 */
export async function makeTenant(admin, limits) {
  const [tenantId, providerId] = [newId(), newId()];
  await withTenant(admin.db, tenantId, async (tx) => {
    await insertTenant(tx, { id: tenantId, name: "bench", ...limits });
    const address = { baseUrl: "", secret: null, allowPrivateNetwork: false };
    await insertProvider(tx, tenantId, { id: providerId, name: "echo", kind: "echo", models: [], ...address });
  });
  return { tenantId, providerId };
}

/**
 * Accepts `count` turns of a tenant at once, each in a chat of its own, and returns their generations' ids.
 *
 * @param {import("../../db/dist/src/index.js").Database} api as `shiftwork_api`
 * @param {{ tenantId: string, providerId: string }} tenant
 * @param {number} count
 * @param {string} text what the user says
 */
export async function insertTurns(api, { tenantId, providerId }, count, text) {
  const many = () => Array.from({ length: count }, () => newId());
  const [chats, messages, generations] = [many(), many(), many()];
  const request = {
    parameters: {},
    tools: [],
    budget: { contextLimit: 8_192 },
    strategyOptions: {},
    personaId: null,
    lorebookIds: null,
    now: "2026-01-01T00:00:00.000Z",
    expectedHash: null,
  };
  await api.client.begin(async (sql) => {
    await sql`select set_config('app.tenant_id', ${tenantId}, true)`;
    await sql`
      insert into chats (tenant_id, id, settings, metadata)
      select ${tenantId}, id, '{}', '{}' from unnest(${chats}::uuid[]) as id
    `;
    await sql`
      insert into messages (tenant_id, id, chat_id, seq, role, content, tool_calls, meta)
      select ${tenantId}, id, chat_id, 1, 'user', ${text}, '[]', '{}'
      from unnest(${messages}::uuid[], ${chats}::uuid[]) as turn (id, chat_id)
    `;
    await sql`
      insert into generations (tenant_id, id, chat_id, action, provider_id, provider_kind, model, strategy, seed,
        input_message_id, deadline_at)
      select ${tenantId}, id, chat_id, 'reply', ${providerId}, 'echo', 'echo-1', 'truncate', 's', message_id,
        now() + interval '1 hour'
      from unnest(${generations}::uuid[], ${chats}::uuid[], ${messages}::uuid[]) as turn (id, chat_id, message_id)
    `;
    await sql`
      insert into generation_contents (tenant_id, generation_id, chat_id, request)
      select ${tenantId}, id, chat_id, ${sql.json(request)}
      from unnest(${generations}::uuid[], ${chats}::uuid[]) as turn (id, chat_id)
    `;
    await sql`select pg_notify('shiftwork_dispatch', ${tenantId})`;
  });
  return generations;
}

/** The value below which `percent` of the numbers lie. */
export function percentile(numbers, percent) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil((sorted.length * percent) / 100) - 1)] ?? null;
}
