import type { Database } from "@shiftwork/db";

/** Rows of every table, whatever the tenant; needs a login that row-level security does not bind. */
export async function countRows({ client }: Database): Promise<{ readonly [table: string]: number }> {
  return client.begin(async (tx) => {
    await tx`set local role none`;
    const tables = await tx<{ name: string }[]>`select relname as name from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace order by relname`;
    const counts: [string, number][] = [];
    for (const { name } of tables) {
      const [row] = await tx<{ count: number }[]>`select count(*)::int as count from ${tx(name)}`;
      counts.push([name, row?.count ?? 0]);
    }
    return Object.fromEntries(counts);
  });
}
