import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { openSecret, providerSecretContext, readMasterKey, sealSecret } from "./seal-secret.ts";

const key = readMasterKey(randomBytes(32).toString("base64"));
const context = providerSecretContext("tenant-a", "provider-1");

test("a sealed secret opens under the same key and context", () => {
  const sealed = sealSecret(key, "sk-ünï", context);
  expect(openSecret(key, sealed, context)).toBe("sk-ünï");
  expect(Buffer.from(sealed).includes("sk-")).toBe(false);
});

test("the same secret is sealed differently each time", () => {
  expect(Buffer.from(sealSecret(key, "s", context))).not.toEqual(Buffer.from(sealSecret(key, "s", context)));
});

test("a secret moved to another tenant's row does not open", () => {
  const sealed = sealSecret(key, "s", context);
  expect(() => openSecret(key, sealed, providerSecretContext("tenant-b", "provider-1"))).toThrow("does not open");
});

test("every changed byte is noticed", () => {
  const sealed = sealSecret(key, "secret", context);
  for (let index = 0; index < sealed.length; index += 1) {
    const changed = Uint8Array.from(sealed);
    changed[index] = (changed[index] ?? 0) ^ 1;
    expect(() => openSecret(key, changed, context)).toThrow("sealed secret");
  }
});

test("a master key of another length is refused", () => {
  expect(() => readMasterKey(randomBytes(16).toString("base64"))).toThrow("32 bytes");
});
