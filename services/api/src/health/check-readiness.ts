import { LATEST_MIGRATION, type Database } from "@shiftwork/db";
import { HttpProblem } from "../errors.ts";

/** Looks at what a request needs: the database, migrated. Never at providers or the queue. `null` = ready. */
export async function checkReadiness({ client }: Pick<Database, "client">): Promise<HttpProblem | null> {
  try {
    const [latest] = await client<{ name: string }[]>`select name from kysely_migration order by name desc limit 1`;
    if (latest && latest.name >= LATEST_MIGRATION) return null;
    return pending();
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && (error.code === "42P01" || error.code === "42501");
    if (isMissing) return pending();
    return new HttpProblem("SERVICE_UNAVAILABLE", "The database does not answer.", { retryAfterSeconds: 1 });
  }
}

function pending(): HttpProblem {
  return new HttpProblem("MIGRATION_PENDING", "The database is not migrated yet.", { retryAfterSeconds: 5 });
}
