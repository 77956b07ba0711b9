import { writeFileSync } from "node:fs";
import { openDatabase } from "./client.ts";
import { dumpSchema } from "./dump-schema.ts";
import { migrate } from "./migrate.ts";

/** `npm run schema -- <url of an empty database>`: migrates it and writes `db/schema.sql`. */
const url = process.argv[2];
if (!url) throw new Error("name an empty database: npm run schema -- postgres://…");
await migrate(url);
const owner = openDatabase({ url, role: "shiftwork_owner", maxConnections: 1, applicationName: "shiftwork-schema" });
writeFileSync(new URL("../schema.sql", import.meta.url), await dumpSchema(owner.client));
await owner.close();
