import { describe, expect, it } from "vitest";
import { canonicalJson, sha256Hex } from "./hash.ts";
import { defaultSeed } from "./seed.ts";

describe("sha256Hex", () => {
  it("is SHA-256 of the UTF-8 bytes", () => {
    expect(sha256Hex("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });
});

describe("canonicalJson", () => {
  it("does not depend on the order of keys or on absent members", () => {
    expect(canonicalJson({ b: [1, { d: 2, c: 3 }], a: undefined })).toBe('{"b":[1,{"c":3,"d":2}]}');
    expect(canonicalJson({ a: 1, b: 2 })).toBe(canonicalJson({ b: 2, a: 1 }));
  });
});

describe("defaultSeed", () => {
  it("depends on the chat and on the message the input hangs on", () => {
    const seeds = [defaultSeed("c", "m"), defaultSeed("c", null), defaultSeed("d", "m"), defaultSeed("c", "null")];
    expect(new Set(seeds).size).toBe(4);
    expect(defaultSeed("c", "m")).toBe(seeds[0]);
  });
});
