import type { Sql } from "postgres";

/**
 * The schema as text, from the catalogue (the embedded server ships no pg_dump): tables, columns, constraints, indexes,
 * policies, grants, functions. The same on every PostgreSQL from 15 on; committed as `db/schema.sql` and compared by a test.
 */
export async function dumpSchema(client: Sql<{ bigint: number }>): Promise<string> {
  const sections = [await dumpFunctions(client)];
  for (const table of await listTables(client)) sections.push(await dumpTable(client, table));
  return `-- Generated from the catalogue by \`npm run schema\`; the migrations are what runs.\n\n${sections.join("\n\n")}\n`;
}

interface TableRow {
  readonly oid: number;
  readonly name: string;
  readonly unlogged: boolean;
  readonly secured: boolean;
  readonly forced: boolean;
  readonly options: string | null;
}

async function listTables(client: Sql<{ bigint: number }>): Promise<readonly TableRow[]> {
  return client<TableRow[]>`
    select oid, relname as name, relpersistence = 'u' as unlogged, relrowsecurity as secured,
      relforcerowsecurity as forced, array_to_string(reloptions, ', ') as options
    from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'v', 'm') and relname not like 'kysely%'
    order by relname
  `;
}

async function dumpTable(client: Sql<{ bigint: number }>, table: TableRow): Promise<string> {
  const columns = await client<{ line: string }[]>`
    select format('  %s %s%s%s', attname, format_type(atttypid, atttypmod),
      case when attnotnull then ' not null' else '' end,
      coalesce(' default ' || pg_get_expr(adbin, adrelid), '')) ||
      case when attstorage <> typstorage then ' storage ' || attstorage::text else '' end as line
    from pg_attribute
    join pg_type on pg_type.oid = atttypid
    left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attrelid = ${table.oid} and attnum > 0 and not attisdropped
    order by attnum
  `;
  const constraints = await client<{ line: string }[]>`
    select format('  constraint %s %s', conname, pg_get_constraintdef(oid)) as line
    from pg_constraint where conrelid = ${table.oid} and contype in ('p', 'u', 'f', 'c') order by contype, conname
  `;
  const lines = [...columns, ...constraints].map((row) => row.line);
  const head = `create ${table.unlogged ? "unlogged " : ""}table ${table.name}`;
  const tail = table.options ? ` with (${table.options})` : "";
  return [
    `${head} (\n${lines.join(",\n")}\n)${tail};`,
    ...(await dumpIndexes(client, table)),
    ...(table.secured ? [`alter table ${table.name} enable row level security;`] : []),
    ...(table.forced ? [`alter table ${table.name} force row level security;`] : []),
    ...(await dumpPolicies(client, table)),
    ...(await dumpGrants(client, table)),
  ].join("\n");
}

async function dumpIndexes(client: Sql<{ bigint: number }>, table: TableRow): Promise<readonly string[]> {
  const rows = await client<{ line: string }[]>`
    select pg_get_indexdef(indexrelid) || ';' as line from pg_index
    where indrelid = ${table.oid} and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u'))
    order by 1
  `;
  return rows.map((row) => row.line);
}

async function dumpPolicies(client: Sql<{ bigint: number }>, table: TableRow): Promise<readonly string[]> {
  const rows = await client<{ line: string }[]>`
    select format('create policy %s on %s for %s to %s%s%s;', policyname, tablename, lower(cmd),
      array_to_string(roles, ', '), coalesce(' using (' || qual || ')', ''),
      coalesce(' with check (' || with_check || ')', '')) as line
    from pg_policies where schemaname = 'public' and tablename = ${table.name} order by policyname
  `;
  return rows.map((row) => row.line);
}

async function dumpGrants(client: Sql<{ bigint: number }>, table: TableRow): Promise<readonly string[]> {
  const rows = await client<{ line: string }[]>`
    select format('grant %s on %s to %s;', string_agg(lower(privilege_type), ', ' order by privilege_type),
      ${table.name}::text, grantee) as line
    from (
      select (aclexplode(relacl)).privilege_type, (aclexplode(relacl)).grantee::regrole::text as grantee
      from pg_class where oid = ${table.oid}
    ) as acl
    where grantee <> 'shiftwork_owner' group by grantee order by grantee
  `;
  return rows.map((row) => row.line);
}

async function dumpFunctions(client: Sql<{ bigint: number }>): Promise<string> {
  const rows = await client<{ line: string }[]>`
    select trim(pg_get_functiondef(oid)) || ';' as line
    from pg_proc where pronamespace = 'public'::regnamespace and proowner = 'shiftwork_owner'::regrole order by proname
  `;
  return rows.map((row) => row.line).join("\n\n");
}
