import { VersionObject } from "@shiftwork/contracts";
import type { ApiDependencies } from "../../api-dependencies.ts";
import { endpoint, ok } from "../endpoint.ts";

export const readVersion = endpoint({
  method: "GET",
  path: "/api/v2/version",
  tag: "Service",
  summary: "Version of the service and of this API, and the plugins in it",
  scope: "public",
  result: VersionObject,
  statuses: [200],
  errors: [],
  handle: async (deps) =>
    ok({ version: deps.version, apiVersion: 2 as const, plugins: deps.plugins.list.map(pluginObject) }),
});

type Plugin = ApiDependencies["plugins"]["list"][number];

function pluginObject({ specifier, strategies, interceptors }: Plugin): VersionObject["plugins"][number] {
  return { module: specifier, strategies: [...strategies], interceptors: [...interceptors] };
}
