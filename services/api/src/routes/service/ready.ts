import { Alive } from "@shiftwork/contracts";
import { endpoint, ok } from "../endpoint.ts";

export const readReadiness = endpoint({
  method: "GET",
  path: "/readyz",
  tag: "Service",
  summary: "The process takes requests: database there, migrated, not shutting down",
  scope: "public",
  result: Alive,
  statuses: [200],
  errors: ["SERVICE_UNAVAILABLE", "MIGRATION_PENDING", "SHUTTING_DOWN"],
  handle: async (deps) => {
    const problem = await deps.readiness();
    if (problem) throw problem;
    return ok({ status: "ok" as const });
  },
});
