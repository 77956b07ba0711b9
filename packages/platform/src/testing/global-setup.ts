import type { ProvidedContext } from "vitest";
import type { TestProject } from "vitest/node";
import { launchServices } from "../embedded/launch.ts";
import { temporaryFolder } from "./temporary-folder.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A PostgreSQL server, as its owner: tests make their own databases on it. */
    databaseUrl: string;
    /** `null` when there is no Redis: tests that need one are skipped. */
    redisUrl: string | null;
  }
}

/**
 * Runs once for the tests that need services. `DATABASE_URL` and `REDIS_URL` win; else both servers are started in a
 * temporary folder without durability, and removed afterwards.
 */
export default async function provideServices(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const provide = ({ databaseUrl, redisUrl }: ProvidedContext): void => {
    project.provide("databaseUrl", databaseUrl);
    project.provide("redisUrl", redisUrl);
  };
  const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, EMBEDDED_PG, EMBEDDED_REDIS } = process.env;
  if (databaseUrl) {
    provide({ databaseUrl, redisUrl: redisUrl || null });
    return undefined;
  }
  const services = await launchServices({
    dir: temporaryFolder(),
    redis: !redisUrl && EMBEDDED_REDIS !== "off",
    postgres: EMBEDDED_PG === "system" ? "system" : "npm",
    fast: true,
    discard: true,
  });
  provide({ databaseUrl: services.databaseUrl, redisUrl: redisUrl || services.redisUrl });
  return () => services.stop();
}
