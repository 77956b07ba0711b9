import { migrate } from "./migrate.ts";

/** `npm run migrate -- postgres://…`: brings a database up to date. The user needs CREATEROLE the first time. */
const url = process.argv[2];
if (!url) throw new Error("name the database: npm run migrate -- postgres://user:password@host/database");
const ran = await migrate(url);
process.stdout.write(ran.length === 0 ? "up to date\n" : `${ran.join("\n")}\n`);
