import { migrate } from "./migrate.ts";

/** `npm run migrate -- postgres://…`: brings a database up to date. The user needs CREATEROLE the first time. */
async function main(url: string | undefined): Promise<string> {
  if (!url) throw new Error("name the database: npm run migrate -- postgres://user:password@host/database");
  const ran = await migrate(url);
  return ran.length === 0 ? "up to date" : ran.join("\n");
}

try {
  process.stdout.write(`${await main(process.argv[2])}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
