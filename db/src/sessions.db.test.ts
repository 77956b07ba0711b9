import { Socket } from "node:net";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, onTestFinished, vi } from "vitest";
import { openDatabase, type Database } from "./client.ts";
import { endFrozenSessions } from "./queries/frozen-sessions.ts";
import { sendAlong } from "./round-trips.ts";
import { openTestDatabase, type TestDatabase } from "./testing/index.ts";
import { actAs, withTenant, type Tx } from "./transaction.ts";

const [MINE, THEIRS] = ["00000000-0000-7000-8000-000000000001", "00000000-0000-7000-8000-000000000002"];

let test: TestDatabase;
let superuser: Database["client"];
let admin: Database;
let database: Database;

beforeAll(async () => {
  test = await openTestDatabase(inject("databaseUrl"));
  admin = openDatabase({ url: test.url, role: "shiftwork_admin", maxConnections: 1, applicationName: "killer" });
  superuser = admin.client;
});
beforeEach(() => {
  database = openDatabase({ url: test.url, role: "shiftwork_api", maxConnections: 1, applicationName: "victim" });
});
afterAll(async () => {
  await admin.close();
  await test.drop();
});

/** Ends the connections of the pool under test from outside, as a restart of the server does, and waits until they are gone. */
async function killConnections(): Promise<void> {
  await superuser.begin(async (tx) => {
    await tx`set local role none`;
    const rows = await tx<{ ended: boolean }[]>`
      select pg_terminate_backend(pid, 5000) as ended from pg_stat_activity
      where application_name = 'victim' and datname = current_database()
    `;
    expect(rows.map(({ ended }) => ended)).toEqual([true]);
  });
}

const tenantNow = sql<{ tenant: string }>`select current_setting('app.tenant_id', true) as tenant`;

describe("a transaction that is to begin in another way", () => {
  it.each([{ isolationLevel: "serializable" }, { accessMode: "read only" }] as const)("is refused: %j", async (way) => {
    const { isolationLevel, accessMode } = { isolationLevel: undefined, accessMode: undefined, ...way };
    const transaction = database.db.transaction();
    const asked = isolationLevel
      ? transaction.setIsolationLevel(isolationLevel)
      : transaction.setAccessMode(accessMode);
    await expect(asked.execute(async () => {})).rejects.toThrow("the same way");
  });
});

describe("a pool whose connections are lost", () => {
  it("fails the transaction that held one, statement after statement, and serves the next", async () => {
    const codes: unknown[] = [];
    const broken = withTenant(database.db, MINE, async (tx) => {
      await tenantNow.execute(tx);
      await killConnections();
      for (let statement = 0; statement < 3; statement += 1) {
        await tenantNow.execute(tx).catch((error: { code: unknown }) => codes.push(error.code));
      }
    });
    await expect(broken).rejects.toMatchObject({
      code: expect.stringMatching(/^(CONNECTION_CLOSED|ECONNRESET|57P01)$/),
    });
    expect(codes).toHaveLength(3);
    expect(codes.slice(1)).toEqual(["CONNECTION_CLOSED", "CONNECTION_CLOSED"]);
    const { rows } = await withTenant(database.db, THEIRS, (tx) => tenantNow.execute(tx));
    expect(rows).toEqual([{ tenant: THEIRS }]);
    await database.close();
  });

  it("keeps the statements of a lost transaction out of the one that comes after it", async () => {
    let theirs = Promise.resolve<readonly unknown[]>([]);
    const broken = withTenant(database.db, MINE, async (tx) => {
      theirs = withTenant(database.db, THEIRS, async (next) => {
        await expect(actAs(tx, MINE)).rejects.toThrow(/already rolled back|gone/);
        return (await tenantNow.execute(next)).rows;
      });
      await tenantNow.execute(tx);
      await killConnections();
      await tenantNow.execute(tx);
    });
    await expect(broken).rejects.toMatchObject({ name: "Error" });
    expect(await theirs).toEqual([{ tenant: THEIRS }]);
    await database.close();
  });

  it("hands out connections in turn, and refuses who waits when it is closed", async () => {
    const order: number[] = [];
    await Promise.all(
      [1, 2, 3].map((n) =>
        withTenant(database.db, MINE, async (tx) => void order.push(n, (await tenantNow.execute(tx)).rows.length)),
      ),
    );
    expect(order).toEqual([1, 1, 2, 1, 3, 1]);
    await database.close();
    await expect(withTenant(database.db, MINE, async () => {})).rejects.toMatchObject({ code: "CONNECTION_ENDED" });
  });
});

describe("the opening of a transaction", () => {
  it("goes out with the first statement, in one write", async () => {
    const ask = () => withTenant(database.db, MINE, (tx) => tenantNow.execute(tx));
    await ask();
    const write = vi.spyOn(Socket.prototype, "write");
    onTestFinished(() => write.mockRestore());
    expect((await ask()).rows).toEqual([{ tenant: MINE }]);
    expect(write).toHaveBeenCalledTimes(2);
    await database.close();
  });

  it("carries what is sent along in the same write, in its order", async () => {
    const run = () =>
      withTenant(database.db, MINE, async (tx) => {
        await sendAlong(tx, sql`select set_config('app.first', 'a', true)`);
        await sendAlong(tx, sql`select set_config('app.second', current_setting('app.first') || 'b', true)`);
        return sql<{ both: string }>`select current_setting('app.second') as both`.execute(tx);
      });
    await run();
    const write = vi.spyOn(Socket.prototype, "write");
    onTestFinished(() => write.mockRestore());
    expect((await run()).rows).toEqual([{ both: "ab" }]);
    expect(write).toHaveBeenCalledTimes(2);
    await database.close();
  });

  it.each([
    ["the next statement", (tx: Tx) => tenantNow.execute(tx)],
    ["the commit", () => Promise.resolve()],
  ])("fails %s when what was sent along fails, and keeps nothing", async (_, goOn) => {
    const broken = withTenant(database.db, MINE, async (tx) => {
      await sendAlong(tx, sql`select 1 / 0`);
      await goOn(tx);
    });
    await expect(broken).rejects.toThrow("division by zero");
    const { rows } = await withTenant(database.db, THEIRS, (tx) => tenantNow.execute(tx));
    expect(rows).toEqual([{ tenant: THEIRS }]);
    await database.close();
  });

  it("is no success when the transaction was aborted, whoever swallowed the error", async () => {
    const swallowed = withTenant(database.db, MINE, (tx) => sql`select 1 / 0`.execute(tx).catch(() => "fine"));
    await expect(swallowed).rejects.toThrow("aborted and not committed");
    await database.close();
  });

  it("leaves no tenant behind for what comes after the transaction", async () => {
    await withTenant(database.db, MINE, (tx) => tenantNow.execute(tx));
    expect((await tenantNow.execute(database.db)).rows).toEqual([{ tenant: "" }]);
    await database.close();
  });
});

/** From the statement that holds the marker on, its connection says nothing more, as when its process is frozen. */
function freezeBehind(marker: string): void {
  const write = Socket.prototype.write;
  const frozen = new WeakSet<Socket>();
  Socket.prototype.write = function (this: Socket, ...parts: unknown[]): boolean {
    if (frozen.has(this)) return true;
    if (Buffer.from(parts[0] as Uint8Array).includes(marker)) frozen.add(this);
    return Reflect.apply(write, this, parts) as boolean;
  };
  onTestFinished(() => {
    Socket.prototype.write = write;
  });
}

describe("a process that is frozen inside a transaction", () => {
  const lock = sql`select pg_advisory_xact_lock(7)`;
  let victim: Database;
  let other: Database;

  beforeEach(() => {
    const open = (applicationName: string) =>
      openDatabase({ url: test.url, role: "shiftwork_worker", maxConnections: 2, applicationName });
    [victim, other] = [open("shiftwork-victim"), open("shiftwork-other")];
    return () => Promise.all([victim.close(), other.close()]);
  });

  /** Resolves once the victim holds the lock and has said its last. */
  function freezeAt(statement: typeof lock): Promise<void> {
    freezeBehind("frozen here");
    return new Promise((resolve) => {
      victim.db
        .transaction()
        .execute(async (tx) => {
          await lock.execute(tx);
          resolve();
          await statement.execute(tx);
          await new Promise<never>(() => {});
        })
        .catch(() => {});
    });
  }
  const takeLock = () => other.db.transaction().execute((tx) => lock.execute(tx));

  it("loses its locks between two statements: the server ends an idle transaction", async () => {
    await freezeAt(sql`select 'frozen here'`);
    await takeLock();
  });

  it("loses its locks in the middle of a statement: who looks for such sessions ends them, and no others", async () => {
    await freezeAt(sql`select ${1}::int as "frozen here"`);
    expect(await endFrozenSessions(other.db, 60_000)).toBe(0);
    await vi.waitFor(async () => expect(await endFrozenSessions(other.db, 200)).toBe(1), { timeout: 10_000 });
    await takeLock();
    expect(await endFrozenSessions(other.db, 0)).toBe(0);
  });
});
