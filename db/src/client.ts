import { Kysely } from "kysely";
import postgres, { type Sql } from "postgres";
import { ARRAY_TYPES } from "./array-types.ts";
import { databaseAddress } from "./database-address.ts";
import { sessionDialect } from "./dialect.ts";
import { createSessions } from "./sessions.ts";
import type { Tables } from "./tables.ts";

/** How long a closing pool waits for statements under way, in seconds. */
const END_WITHIN = { timeout: 5 };

/** A process that is frozen inside a transaction loses it, and with it the locks others wait for. */
export const FROZEN_AFTER_MS = 5_000;

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
  const client = connect(options, { max: options.maxConnections });
  // A statement that was lost with its connection must not be followed by others on the next one: no lifetime limit
  // may end a connection between two statements of a transaction either.
  const sessions = createSessions(
    options.maxConnections,
    (onclose) => connect(options, { max: 1, max_lifetime: null, onclose }),
    END_WITHIN,
  );
  return {
    db: new Kysely<Tables>({ dialect: sessionDialect(sessions) }),
    client,
    async close() {
      await Promise.all([sessions.end(), client.end(END_WITHIN)]);
    },
  };
}

type Client = Database["client"];

interface ConnectionOptions {
  readonly max: number;
  readonly max_lifetime?: null;
  readonly onclose?: () => void;
}

function connect(options: DatabaseOptions, more: ConnectionOptions): Client {
  const { url, ...socket } = databaseAddress(options.url);
  return postgres(url, {
    ...socket,
    connect_timeout: 10,
    onnotice: () => {},
    types: { ...ARRAY_TYPES, bigint: { to: 20, from: [20], serialize: String, parse: Number } },
    fetch_types: false,
    connection: {
      role: options.role,
      application_name: options.applicationName,
      idle_in_transaction_session_timeout: FROZEN_AFTER_MS,
    },
    ...more,
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
