import { randomBytes } from "node:crypto";
import postgres from "postgres";
import { LATEST_MIGRATION, migrate } from "../migrate.ts";

export interface TestDatabase {
  /** Login URL of a fresh, migrated database. */
  readonly url: string;
  /** Drops it; fails when a connection was left open. */
  drop(): Promise<void>;
}

/**
 * A database of its own for one test file, cloned from a migrated template (about 50 ms). `serverUrl` is what the
 * global set-up provides: `inject("databaseUrl")`.
 */
export async function openTestDatabase(serverUrl: string): Promise<TestDatabase> {
  const server = postgres(serverUrl, { max: 1, onnotice: () => {} });
  try {
    await server`select pg_advisory_lock(hashtext('shiftwork.test-template'))`;
    const template = await ensureTemplate(server, serverUrl);
    const name = `shiftwork_test_${randomBytes(6).toString("hex")}`;
    await server.unsafe(`create database ${name} template ${template}`);
    return { url: withDatabase(serverUrl, name), drop: () => dropDatabase(serverUrl, name) };
  } finally {
    await server.end({ timeout: 5 });
  }
}

async function ensureTemplate(server: postgres.Sql, serverUrl: string): Promise<string> {
  const template = `shiftwork_template_${LATEST_MIGRATION.slice(0, 4)}_${process.ppid}`;
  const [found] = await server`select from pg_database where datname = ${template} and datistemplate`;
  if (found) return template;
  await server.unsafe(`create database ${template}`);
  await migrate(withDatabase(serverUrl, template));
  await server.unsafe(`alter database ${template} is_template true`);
  return template;
}

async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  const server = postgres(serverUrl, { max: 1, onnotice: () => {} });
  try {
    await server.unsafe(`drop database ${name}`);
  } finally {
    await server.end({ timeout: 5 });
  }
}

function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}
