import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { sql } from "kysely";
import { uuidv7 as newId } from "uuidv7";
import { insertAdminKey } from "./queries/admin-keys.ts";
import { findApiKey } from "./queries/api-keys.ts";
import { assertRoleIsBound, openDatabase, type Database, type ServiceRole } from "./client.ts";
import { insertOneOfEverything } from "./testing/one-of-everything.ts";
import { insertTestChat, openTestDatabase, type TestChat, type TestDatabase } from "./testing/index.ts";
import { withTenant } from "./transaction.ts";

let test: TestDatabase;
let mine: TestChat;
let theirs: TestChat;
const open = {} as Record<ServiceRole, Database>;

beforeAll(async () => {
  test = await openTestDatabase(inject("databaseUrl"));
  for (const role of ["shiftwork_api", "shiftwork_worker", "shiftwork_admin", "shiftwork_owner"] as const) {
    open[role] = openDatabase({ url: test.url, role, maxConnections: 2, applicationName: "test" });
  }
  mine = await insertTestChat(open.shiftwork_admin.db, open.shiftwork_api.db);
  theirs = await insertTestChat(open.shiftwork_admin.db, open.shiftwork_api.db);
  await insertOneOfEverything(open.shiftwork_admin.db, open.shiftwork_api.db, theirs);
});

afterAll(async () => {
  for (const database of Object.values(open)) await database.close();
  await test.drop();
});

async function tablesOf(database: Database): Promise<readonly string[]> {
  const rows = await database.client<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r' and relname not like 'kysely%' order by 1
  `;
  return rows.map((row) => row.name);
}

/** What a worker must see across tenants to hand out work; none of it is content. */
const WORKER_SEES = new Set([
  "embedding_requests",
  "generation_attempts",
  "generation_labels",
  "generation_reasons",
  "generations",
  "tenants",
  "workers",
  "leases",
]);

/**
 * Tables of the cluster, not of a tenant. The API may read two of them (whether a queue is paused, and what room it has),
 * and of `admin_keys` the key it was sent.
 */
const READ_BY_ALL = new Set(["queues", "dispatch_room", "admin_keys"]);
const WITHOUT_TENANT = new Set(["workers", "leases", ...READ_BY_ALL]);

describe("row-level security", () => {
  it("has something of the other tenant to hide in every table", async () => {
    const names = (await tablesOf(open.shiftwork_owner)).filter((name) => !WITHOUT_TENANT.has(name));
    const empty: string[] = [];
    await open.shiftwork_owner.client.begin(async (tx) => {
      await tx`set local role none`;
      for (const name of names) {
        const column = name === "tenants" ? "id" : "tenant_id";
        const rows = await tx`select from ${tx(name)} where ${tx(column)} = ${theirs.tenantId} limit 1`;
        if (rows.length === 0) empty.push(name);
      }
    });
    expect(empty).toEqual([]);
  });

  it("is enabled and forced on every table", async () => {
    const rows = await open.shiftwork_owner.client<{ name: string }[]>`
      select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and relname not like 'kysely%'
        and not (relrowsecurity and relforcerowsecurity)
    `;
    expect(rows.map((row) => row.name)).toEqual([]);
  });

  it.each(["shiftwork_api", "shiftwork_worker"] as const)(
    "shows %s nothing of another tenant when a query forgets its tenant filter",
    async (role) => {
      const names = (await tablesOf(open.shiftwork_owner)).filter((name) => !READ_BY_ALL.has(name));
      expect(names.length).toBeGreaterThan(20);
      for (const name of names) {
        if (role === "shiftwork_worker" && WORKER_SEES.has(name)) continue;
        const foreign = await withTenant(open[role].db, mine.tenantId, async (tx) => {
          const column = name === "tenants" ? "id" : "tenant_id";
          const allowed = await sql<{ ok: boolean }>`select has_table_privilege(${name}, 'select') as ok`.execute(tx);
          if (!allowed.rows[0]?.ok) return [];
          return (await sql`select * from ${sql.table(name)} where ${sql.ref(column)} <> ${mine.tenantId}`.execute(tx))
            .rows;
        });
        expect({ name, foreign }).toEqual({ name, foreign: [] });
      }
    },
  );

  it("shows nothing at all to a connection without a tenant, also after it had one", async () => {
    await withTenant(open.shiftwork_api.db, theirs.tenantId, (tx) => tx.selectFrom("messages").selectAll().execute());
    for (const name of ["messages", "chats", "generations", "generation_contents", "generation_events"] as const) {
      const rows = await open.shiftwork_api.db.selectFrom(name).selectAll().execute();
      expect({ name, rows }).toEqual({ name, rows: [] });
    }
  });

  it("shows the API an admin's key only when it was sent, and workers none", async () => {
    const key = { id: newId(), keyId: "0123456789", secretHash: new Uint8Array(1), name: "test", scopes: [] };
    await insertAdminKey(open.shiftwork_admin.db, key);
    expect(await open.shiftwork_api.db.selectFrom("admin_keys").select("id").execute()).toEqual([]);
    expect(await findApiKey(open.shiftwork_api.db, key.keyId)).toMatchObject({ id: key.id, tenantId: null });
    const asWorker = open.shiftwork_worker.db.selectFrom("admin_keys").select("id").execute();
    await expect(asWorker).rejects.toThrow(/permission denied/);
  });

  it("shows an admin no content", async () => {
    const readable: string[] = [];
    for (const name of await tablesOf(open.shiftwork_owner)) {
      const read = sql`select * from ${sql.table(name)} limit 1`.execute(open.shiftwork_admin.db);
      if (
        await read.then(
          () => true,
          () => false,
        )
      )
        readable.push(name);
    }
    expect(readable).toEqual([
      "admin_keys",
      "api_keys",
      "bulk_actions",
      "error_states",
      "generation_labels",
      "generations",
      "leases",
      "providers",
      "queues",
      "tenant_settings",
      "tenants",
      "workers",
    ]);
  });

  it("refuses to write a row for another tenant", async () => {
    const write = withTenant(open.shiftwork_api.db, mine.tenantId, (tx) =>
      tx
        .insertInto("chats")
        .values({ tenant_id: theirs.tenantId, id: mine.inputMessageId, settings: {}, metadata: {} })
        .execute(),
    );
    await expect(write).rejects.toThrow(/row-level security/);
  });

  it("refuses a reference to another tenant's row by the composite key", async () => {
    const write = withTenant(open.shiftwork_api.db, mine.tenantId, (tx) =>
      tx
        .insertInto("messages")
        .values({
          tenant_id: mine.tenantId,
          id: theirs.inputMessageId,
          chat_id: theirs.chatId,
          seq: 9,
          role: "user",
          content: "x",
          tool_calls: [],
          meta: {},
        })
        .execute(),
    );
    await expect(write).rejects.toThrow(/foreign key/);
  });

  it("lets a service start only under a role it binds", async () => {
    await expect(assertRoleIsBound(open.shiftwork_api)).resolves.toBeUndefined();
    const superuser = openDatabase({
      url: test.url,
      role: new URL(test.url).username as ServiceRole,
      maxConnections: 1,
      applicationName: "test",
    });
    await expect(assertRoleIsBound(superuser)).rejects.toThrow(/bypasses row-level security/);
    await superuser.close();
  });
});
