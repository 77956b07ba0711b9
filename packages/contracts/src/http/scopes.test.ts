import { expect, test } from "vitest";
import { ALL_TENANT_SCOPES, grants, SCOPES } from "./scopes.ts";

test("a key does what it names, or everything of a resource", () => {
  expect(grants(["chats:read"], "chats:read")).toBe(true);
  expect(grants(["chats:read"], "chats:write")).toBe(false);
  expect(grants(["chats:*"], "chats:write")).toBe(true);
  expect(grants(["audits:read"], "audits:read_content")).toBe(false);
});

test("a tenant's own back end may do everything there is", () => {
  for (const scope of SCOPES) expect(grants(ALL_TENANT_SCOPES, scope)).toBe(true);
});
