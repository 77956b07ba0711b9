import { VersionObject } from "@shiftwork/contracts";
import { endpoint, ok } from "../endpoint.ts";

export const readVersion = endpoint({
  method: "GET",
  path: "/api/v2/version",
  tag: "Service",
  summary: "Version of the service and of this API",
  scope: "public",
  result: VersionObject,
  statuses: [200],
  errors: [],
  handle: async (deps) => ok({ version: deps.version, apiVersion: 2 as const }),
});
