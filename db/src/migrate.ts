import { Migrator, type Migration } from "kysely";
import postgres from "postgres";
import * as createRolesAndTenants from "../migrations/0001_create_roles_and_tenants.ts";
import * as createConversations from "../migrations/0002_create_conversations.ts";
import * as createGenerations from "../migrations/0003_create_generations.ts";
import * as fitContexts from "../migrations/0004_fit_contexts.ts";
import * as addCharacterSettings from "../migrations/0005_add_character_settings.ts";
import * as addTurnsThatWait from "../migrations/0006_add_turns_that_wait.ts";
import * as addDispatchRoom from "../migrations/0007_add_dispatch_room.ts";
import * as indexDispatch from "../migrations/0008_index_dispatch.ts";
import * as markFailures from "../migrations/0009_mark_failures.ts";
import * as addOperations from "../migrations/0010_add_operations.ts";
import * as addBranches from "../migrations/0011_add_branches.ts";
import * as indexPreparedAudits from "../migrations/0012_index_prepared_audits.ts";
import * as addEmbeddings from "../migrations/0013_add_embeddings.ts";
import * as accountForOperations from "../migrations/0014_account_for_operations.ts";
import * as addTokenizers from "../migrations/0015_add_tokenizers.ts";
import { openDatabase } from "./client.ts";
import { databaseAddress } from "./database-address.ts";
import { ensureRoles } from "./roles.ts";

/** Forward only, in order; a migration is never edited once it has been released. */
const MIGRATIONS = {
  "0001_create_roles_and_tenants": createRolesAndTenants,
  "0002_create_conversations": createConversations,
  "0003_create_generations": createGenerations,
  "0004_fit_contexts": fitContexts,
  "0005_add_character_settings": addCharacterSettings,
  "0006_add_turns_that_wait": addTurnsThatWait,
  "0007_add_dispatch_room": addDispatchRoom,
  "0008_index_dispatch": indexDispatch,
  "0009_mark_failures": markFailures,
  "0010_add_operations": addOperations,
  "0011_add_branches": addBranches,
  "0012_index_prepared_audits": indexPreparedAudits,
  "0013_add_embeddings": addEmbeddings,
  "0014_account_for_operations": accountForOperations,
  "0015_add_tokenizers": addTokenizers,
} as const satisfies Record<string, Migration>;

export const LATEST_MIGRATION = Object.keys(MIGRATIONS).at(-1) ?? "";

/** Brings the database at `url` up to date; returns the names of the migrations that ran. Safe to run at the same time twice. */
export async function migrate(url: string): Promise<readonly string[]> {
  const { url: address, ...socket } = databaseAddress(url);
  const login = postgres(address, {
    ...socket,
    max: 1,
    onnotice: () => {},
    types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
  });
  try {
    await ensureRoles(login);
  } finally {
    await login.end({ timeout: 5 });
  }
  const owner = openDatabase({ url, role: "shiftwork_owner", maxConnections: 1, applicationName: "shiftwork-migrate" });
  try {
    const migrator = new Migrator({ db: owner.db, provider: { getMigrations: async () => MIGRATIONS } });
    const { error, results } = await migrator.migrateToLatest();
    if (error) throw error;
    const ran = (results ?? []).filter((result) => result.status === "Success").map((result) => result.migrationName);
    if (ran.length > 0) {
      await owner.client`grant select on kysely_migration to shiftwork_api, shiftwork_worker, shiftwork_admin`;
    }
    return ran;
  } finally {
    await owner.close();
  }
}
