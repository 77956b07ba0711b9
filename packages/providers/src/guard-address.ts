import { lookup as systemLookup } from "node:dns/promises";
import type { LookupAddress, LookupOptions } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { ProviderError } from "./provider.ts";

/** IANA special-purpose registries (IPv4 and IPv6), and multicast: what is not the public internet. */
const PRIVATE_IPV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
] as const;
const PRIVATE_IPV6 = [
  "::/96",
  "64:ff9b:1::/48",
  "100::/64",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
  "5f00::/16",
  "fc00::/7",
  "fec0::/10",
] as const;

/** Where clouds answer with credentials (169.254.169.254, fd00:ec2::254), and what is no single host. */
const NEVER_IPV4 = ["169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4"] as const;
const NEVER_IPV6 = ["fd00:ec2::/32", "fe80::/10", "ff00::/8"] as const;

const NEVER = blockList(NEVER_IPV4, NEVER_IPV6);
const PRIVATE = blockList([...NEVER_IPV4, ...PRIVATE_IPV4], [...NEVER_IPV6, ...PRIVATE_IPV6]);

/** May a provider call go to this address? An address that cannot be read may not. */
export function isAddressAllowed(address: string, allowPrivateNetwork: boolean): boolean {
  const plain = address.split("%", 1)[0] ?? "";
  const version = isIP(plain);
  if (version === 0) return false;
  return !(allowPrivateNetwork ? NEVER : PRIVATE).check(plain, version === 4 ? "ipv4" : "ipv6");
}

/** Resolves a host name to all its addresses; `dns.promises.lookup` with `all`, unless a test replaces it. */
export type Resolve = (hostname: string, options: LookupOptions & { all: true }) => Promise<LookupAddress[]>;

export const systemResolve: Resolve = (hostname, options) => systemLookup(hostname, options);

/**
 * A `lookup` for `node:net` that hands on only addresses the target may use. Checked on the very addresses that are
 * then connected to, so a name that changes its answer between check and use gains nothing.
 */
export function guardedLookup(resolve: Resolve, allowPrivateNetwork: boolean): LookupFunction {
  async function find(hostname: string, options: LookupOptions): Promise<LookupAddress[]> {
    const found = await resolve(hostname, { ...options, all: true });
    const allowed = found.filter((entry) => isAddressAllowed(entry.address, allowPrivateNetwork));
    if (allowed.length === 0) throw addressRefused();
    return allowed;
  }
  return (hostname, options, callback) => {
    void answerLookup(find(hostname, options), options.all === true, callback);
  };
}

async function answerLookup(
  search: Promise<LookupAddress[]>,
  wantsAll: boolean,
  callback: Parameters<LookupFunction>[2],
): Promise<void> {
  const found = await search.catch((error: unknown) => error as NodeJS.ErrnoException);
  if (!Array.isArray(found)) callback(found, []);
  else if (wantsAll) callback(null, found);
  else callback(null, found[0]?.address ?? "", found[0]?.family ?? 0);
}

/** Sockets to a literal address skip `lookup`, so it is checked before one is opened. Throws `ProviderError`. */
export function assertLiteralAllowed(hostname: string, allowPrivateNetwork: boolean): void {
  if (isIP(hostname) !== 0 && !isAddressAllowed(hostname, allowPrivateNetwork)) throw addressRefused();
}

function addressRefused(): ProviderError {
  const message = "The provider's host is in a private network, and this provider is not allowed to use one.";
  return new ProviderError("PROVIDER_UNAVAILABLE", message, { retryable: false });
}

/** IPv4 ranges count inside NAT64 (64:ff9b::/96) too; `BlockList` itself maps ::ffff:0:0/96. */
function blockList(ipv4: readonly string[], ipv6: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ipv4) {
    const [network = "", bits = ""] = range.split("/");
    list.addSubnet(network, Number(bits), "ipv4");
    list.addSubnet(`64:ff9b::${network}`, 96 + Number(bits), "ipv6");
  }
  for (const range of ipv6) {
    const [network = "", bits = ""] = range.split("/");
    list.addSubnet(network, Number(bits), "ipv6");
  }
  return list;
}
