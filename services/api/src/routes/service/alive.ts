import { Alive } from "@shiftwork/contracts";
import { endpoint, ok } from "../endpoint.ts";

export const readLiveness = endpoint({
  method: "GET",
  path: "/livez",
  tag: "Service",
  summary: "The process answers",
  scope: "public",
  result: Alive,
  statuses: [200],
  errors: [],
  handle: async () => ok({ status: "ok" as const }),
});
