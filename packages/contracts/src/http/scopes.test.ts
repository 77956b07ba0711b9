import { expect, test } from "vitest";
import { ALL_ADMIN_SCOPES, ALL_TENANT_SCOPES, grants, SCOPES } from "./scopes.ts";

test("a key does what it names, or everything of a resource", () => {
  expect(grants(["chats:read"], "chats:read")).toBe(true);
  expect(grants(["chats:read"], "chats:write")).toBe(false);
  expect(grants(["chats:*"], "chats:write")).toBe(true);
  expect(grants(["audits:read"], "audits:read_content")).toBe(false);
});

test("a tenant's own back end may do everything there is, but look after the installation", () => {
  for (const scope of SCOPES) expect(grants(ALL_TENANT_SCOPES, scope)).toBe(!scope.startsWith("admin:"));
});

test("an admin sees every tenant's generations in numbers, and no texts", () => {
  expect(SCOPES.filter((scope) => grants(ALL_ADMIN_SCOPES, scope))).toEqual([
    "generations:read",
    "generations:write",
    "generations:cancel",
    "audits:read",
    "metrics:read",
    "admin:read",
    "admin:write",
  ]);
});
