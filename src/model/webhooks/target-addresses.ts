import { type IpBlock, isInBlock, parseIpAddress, parseIpBlock } from "../../lib/text/ip-address.ts";

/*
 * Addresses that webhooks may reach. Clients choose the URLs, so these must not lead into the network of the server:
 * only to public addresses, and to those that the operator allows.
 */

const REFUSED: readonly (readonly [what: string, ...blocks: readonly string[]])[] = [
  ["an unspecified", "0.0.0.0/8", "::/128"],
  ["a loopback", "127.0.0.0/8", "::1/128"],
  ["a metadata", "169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192"],
  ["a metadata", "fd00:ec2::254", "fd20:ce::254"],
  ["a link-local", "169.254.0.0/16", "fe80::/10"],
  ["a private", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10"],
  ["a carrier-grade NAT", "100.64.0.0/10"],
  ["a multicast", "224.0.0.0/4", "ff00::/8"],
  ["an IPv4-mapped", "::ffff:0:0/96", "::ffff:0:0:0/96", "::/96"],
  ["a NAT64", "64:ff9b::/96", "64:ff9b:1::/48"],
  ["a 6to4", "2002::/16", "192.88.99.0/24"],
  ["a Teredo", "2001::/32"],
  ["a documentation", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"],
  ["a reserved", "192.0.0.0/24", "198.18.0.0/15", "240.0.0.0/4", "2001::/23"],
];

const REFUSED_BLOCKS = REFUSED.flatMap(([what, ...blocks]) =>
  blocks.map((block) => ({ what, block: parseIpBlock(block)! })),
);

/** All of IPv6 that is given to networks in the internet. */
const GLOBAL_IPV6 = parseIpBlock("2000::/3")!;

/** The operator's bounds of what webhooks may reach. */
export interface TargetRules {
  /** Blocks that may be reached although they are not public, and without encryption. */
  readonly allowed: readonly IpBlock[];
}

/** No bounds, for requests through a proxy, which has its own. */
export const EVERYWHERE: TargetRules = { allowed: ["0.0.0.0/0", "::/0"].map((text) => parseIpBlock(text)!) };

/** Why a webhook may not reach this address: "a private address"; null if it may. */
export function targetFault(text: string, isEncrypted: boolean, { allowed }: TargetRules): string | null {
  const address = parseIpAddress(text);
  if (address === null) return "no address";
  if (allowed.some((block) => isInBlock(address, block))) return null;
  const refused = REFUSED_BLOCKS.find(({ block }) => isInBlock(address, block));
  if (refused !== undefined) return `${refused.what} address`;
  if (address.length === 16 && !isInBlock(address, GLOBAL_IPV6)) return "a reserved address";
  return isEncrypted ? null : "a public address without encryption: use https";
}
