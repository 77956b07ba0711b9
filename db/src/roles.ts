import type { Sql } from "postgres";

const ROLES = ["shiftwork_owner", "shiftwork_api", "shiftwork_worker", "shiftwork_admin"] as const;

/**
 * Makes the cluster's roles (all NOLOGIN, none may bypass row-level security) and lets the login user act as them.
 * Needs CREATEROLE the first time; afterwards it only checks.
 */
export async function ensureRoles(client: Sql<{ bigint: number }>): Promise<void> {
  await client.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext('shiftwork.roles'))`;
    const present = await tx<{ name: string; member: boolean }[]>`
      select rolname as name, pg_has_role(current_user, oid, 'member') as member
      from pg_roles where rolname in ${tx(ROLES)}
    `;
    for (const role of ROLES) {
      const found = present.find((row) => row.name === role);
      if (!found) await tx.unsafe(`create role ${role} nologin nosuperuser nobypassrls`);
      if (!found?.member) await tx.unsafe(`grant ${role} to current_user`);
    }
    const [schema] = await tx<{ ok: boolean }[]>`
      select has_schema_privilege('shiftwork_owner', 'public', 'create') as ok
    `;
    if (!schema?.ok) await tx.unsafe("grant usage, create on schema public to shiftwork_owner");
  });
}
