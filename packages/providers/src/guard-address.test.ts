import { describe, expect, it } from "vitest";
import { assertLiteralAllowed, guardedLookup, isAddressAllowed } from "./guard-address.ts";
import { ProviderError } from "./provider.ts";

const PRIVATE = ["127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.1.1", "100.64.0.1", "0.0.0.0", "::1", "fd12::1"];
const DISGUISED = ["::ffff:127.0.0.1", "::ffff:a00:1", "64:ff9b::7f00:1", "64:ff9b::c0a8:101", "2002:7f00:1::", "::"];
const NEVER = ["169.254.169.254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "fe80::1%eth0", "fd00:ec2::254"];
const PUBLIC = ["8.8.8.8", "1.1.1.1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2606:4700:4700::1111"];

function lookUp(addresses: readonly string[], allowPrivate: boolean, all: boolean): Promise<unknown> {
  const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  const lookup = guardedLookup(() => Promise.resolve(found), allowPrivate);
  return new Promise((resolve, reject) => {
    lookup("host.example", { all }, (error, address) => (error === null ? resolve(address) : reject(error)));
  });
}

describe("isAddressAllowed", () => {
  it.each([...PRIVATE, ...DISGUISED])("%s needs the private-network flag", (address) => {
    expect(isAddressAllowed(address, false)).toBe(false);
    expect(isAddressAllowed(address, true)).toBe(true);
  });

  it.each([...NEVER, "224.0.0.1", "255.255.255.255", "ff02::1", "not an address", ""])(
    "%s is always refused",
    (address) => {
      expect(isAddressAllowed(address, false)).toBe(false);
      expect(isAddressAllowed(address, true)).toBe(false);
    },
  );

  it.each(PUBLIC)("%s is always allowed", (address) => {
    expect(isAddressAllowed(address, false)).toBe(true);
  });
});

describe("guardedLookup", () => {
  it("hands on only the addresses that may be used", async () => {
    expect(await lookUp(["10.0.0.1", "8.8.8.8"], false, true)).toEqual([{ address: "8.8.8.8", family: 4 }]);
    expect(await lookUp(["10.0.0.1", "8.8.8.8"], false, false)).toBe("8.8.8.8");
    expect(await lookUp(["10.0.0.1"], true, false)).toBe("10.0.0.1");
  });

  it("refuses a name that resolves to private addresses only", async () => {
    await expect(lookUp(["10.0.0.1", "::1"], false, true)).rejects.toBeInstanceOf(ProviderError);
    await expect(lookUp([], true, true)).rejects.toBeInstanceOf(ProviderError);
  });
});

describe("assertLiteralAllowed", () => {
  it("checks addresses and leaves names to the lookup", () => {
    expect(() => assertLiteralAllowed("127.0.0.1", false)).toThrow(ProviderError);
    expect(() => assertLiteralAllowed("::1", false)).toThrow(ProviderError);
    expect(() => assertLiteralAllowed("127.0.0.1", true)).not.toThrow();
    expect(() => assertLiteralAllowed("localhost", false)).not.toThrow();
  });
});
