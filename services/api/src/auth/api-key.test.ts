import fc from "fast-check";
import { expect, test } from "vitest";
import { hashSecret, isSameHash, makeApiKey, parseApiKey } from "./api-key.ts";

test("a made key is parsed into its id and a secret with the stored hash", () => {
  const { key, keyId, secretHash } = makeApiKey("live", "pepper");
  const parts = parseApiKey(key);
  expect(key).toMatch(/^sw_live_[0-9A-Za-z]{10}_[0-9A-Za-z]{38}$/);
  expect(parts?.keyId).toBe(keyId);
  expect(isSameHash(hashSecret(parts?.secret ?? "", "pepper"), secretHash)).toBe(true);
});

test("the hash depends on the pepper", () => {
  expect(isSameHash(hashSecret("s", "one"), hashSecret("s", "other"))).toBe(false);
});

test("a key with one changed character is a typo, known without a look-up", () => {
  const { key } = makeApiKey("test", "pepper");
  fc.assert(
    fc.property(fc.integer({ min: 0, max: key.length - 1 }), fc.constantFrom("A", "z", "0", "_"), (at, character) => {
      const changed = key.slice(0, at) + character + key.slice(at + 1);
      expect(changed === key || parseApiKey(changed) === null).toBe(true);
    }),
    { seed: 7 },
  );
});

test("text that is no key is refused", () => {
  for (const text of ["", "sw_live_", "Bearer x", "sw_LIVE_0123456789_x"]) expect(parseApiKey(text)).toBeNull();
});
