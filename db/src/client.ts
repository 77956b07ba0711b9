import { Kysely } from "kysely";
import { PostgresJSDialect } from "kysely-postgres-js";
import postgres, { type Sql } from "postgres";
import type { Tables } from "./tables.ts";

/** The roles the services run as; none of them can bypass row-level security. */
export type ServiceRole = "shiftwork_api" | "shiftwork_worker" | "shiftwork_admin" | "shiftwork_owner";

export interface DatabaseOptions {
  /** `postgres://…`; the login user must be a member of `role`. */
  readonly url: string;
  readonly role: ServiceRole;
  /** Connections at most. */
  readonly maxConnections: number;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
}

/** A pool under one role. `db` for queries, `client` for LISTEN and for closing. */
export interface Database {
  readonly db: Kysely<Tables>;
  readonly client: Sql<{ bigint: number }>;
  /** Ends the pool; safe when no query was ever made. */
  close(): Promise<void>;
}

/**
 * Opens a pool whose connections start under `role` (a start-up parameter, so no statement can forget it).
 * Connections are made on first use.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const client = postgres(options.url, {
    max: options.maxConnections,
    connect_timeout: 10,
    onnotice: () => {},
    types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
    connection: { role: options.role, application_name: options.applicationName },
  });
  const db = new Kysely<Tables>({ dialect: new PostgresJSDialect({ postgres: preparing(client) }) });
  return {
    db,
    client,
    // Kysely's destroy() leaves the client open when no query went through Kysely.
    close: () => client.end({ timeout: 5 }),
  };
}

/** Kysely's dialect never asks for prepared statements; our statements are few and repeat. */
function preparing(client: Sql<{ bigint: number }>) {
  return Object.assign(() => {}, {
    end: () => client.end({ timeout: 5 }),
    async reserve() {
      const reserved = await client.reserve();
      return {
        release: () => reserved.release(),
        unsafe: (text: string, parameters: never[]) => reserved.unsafe(text, parameters, { prepare: true }),
      };
    },
  });
}

/** Refuses a role that row-level security does not bind. Call once at start-up. */
export async function assertRoleIsBound(database: Database): Promise<void> {
  const [role] = await database.client<{ name: string; free: boolean }[]>`
    select rolname as name, rolsuper or rolbypassrls as free from pg_roles where rolname = current_user
  `;
  if (!role || role.free) {
    throw new Error(
      `database role ${role?.name ?? "(unknown)"} bypasses row-level security; run as one of the shiftwork_* roles`,
    );
  }
}
