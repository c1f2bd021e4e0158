import { expect, test } from "bun:test";
import { parseIpBlock } from "../../../../src/lib/text/ip-address.ts";
import { targetFault } from "../../../../src/model/webhooks/target-addresses.ts";

const NONE = { allowed: [] };

/** The first and the last address of each refused block, and those that stand beside it. */
const REFUSED: readonly (readonly [string, ...string[]])[] = [
  ["an unspecified address", "0.0.0.0", "0.255.255.255", "::"],
  ["a loopback address", "127.0.0.1", "127.255.255.255", "::1"],
  ["a metadata address", "169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192"],
  ["a metadata address", "fd00:ec2::254", "fd20:ce::254"],
  ["a link-local address", "169.254.0.0", "169.254.255.255", "fe80::1", "febf:ffff::1", "fe80::1%eth0"],
  ["a private address", "10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0"],
  ["a private address", "192.168.255.255", "fc00::", "fdff::1", "fec0::1"],
  ["a carrier-grade NAT address", "100.64.0.0", "100.127.255.255"],
  ["a multicast address", "224.0.0.0", "239.255.255.255", "ff02::1"],
  ["an IPv4-mapped address", "::ffff:8.8.8.8", "::ffff:7f00:1", "::8.8.8.8", "::ffff:0:127.0.0.1"],
  ["a NAT64 address", "64:ff9b::7f00:1", "64:ff9b::8.8.8.8", "64:ff9b:1:ffff::1"],
  ["a 6to4 address", "2002:7f00:1::", "2002:ffff::1", "192.88.99.1"],
  ["a Teredo address", "2001::1", "2001:0:ffff::1"],
  ["a documentation address", "192.0.2.1", "198.51.100.1", "203.0.113.255", "2001:db8::1", "3fff::1"],
  ["a reserved address", "192.0.0.1", "198.18.0.0", "198.19.255.255", "240.0.0.0", "255.255.255.255"],
  ["a reserved address", "2001:1ff::1", "100::1", "4000::1", "1fff::1", "5f00::1", "e000::1"],
  ["no address", "", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1::2::3", ":::", "1:2:3:4:5:6:7:8:9"],
  ["no address", "g::", "12345::", "1.2.3.4::", "::1.2.3", "example.com"],
];

const PUBLIC = [
  ...[
    "1.0.0.0",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
  ],
  ...["169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0"],
  ...[
    "192.0.1.0",
    "192.0.3.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "8.8.8.8",
    "168.63.129.17",
  ],
  ...[
    "2001:200::1",
    "2001:4860:4860::8888",
    "2003::1",
    "2600:1f18::1",
    "2a00:1450:4001:81b::200e",
    "2000::1",
  ],
];

test("targetFault() refuses each range that is not public, by its name", () => {
  const faults = REFUSED.flatMap(([, ...texts]) =>
    texts.map((text) => [text, targetFault(text, true, NONE)]),
  );
  expect(faults).toEqual(REFUSED.flatMap(([fault, ...texts]) => texts.map((text) => [text, fault])));
});

test("targetFault() lets pass what stands beside the ranges, with encryption alone", () => {
  expect(PUBLIC.filter((text) => targetFault(text, true, NONE) !== null)).toEqual([]);
  expect(PUBLIC.filter((text) => targetFault(text, false, NONE)?.endsWith("use https") !== true)).toEqual([]);
});

test("targetFault() lets pass what the operator allows, also without encryption, and no more", () => {
  const allowed = ["10.1.2.0/23", "127.0.0.1", "fd00::/17"].map((text) => parseIpBlock(text)!);
  const reachable = ["10.1.2.0", "10.1.3.255", "127.0.0.1", "fd00:0:7fff::1", "fd00:7fff::"];
  const refused = [
    "10.1.1.255",
    "10.1.4.0",
    "127.0.0.2",
    "fd00:8000::",
    "::ffff:10.1.2.0",
    "::ffff:127.0.0.1",
  ];
  expect(reachable.filter((text) => targetFault(text, false, { allowed }) !== null)).toEqual([]);
  expect(refused.filter((text) => targetFault(text, true, { allowed }) === null)).toEqual([]);
});

test("parseIpBlock() refuses what is no block", () => {
  const wrong = [
    "",
    "10.0.0.0/",
    "10.0.0.0/33",
    "10.0.0.0/-1",
    "10.0.0.0/8/8",
    "::/129",
    "10/8",
    "a.example/8",
  ];
  expect(wrong.filter((text) => parseIpBlock(text) !== null)).toEqual([]);
  expect(parseIpBlock("::/0")?.bits).toBe(0);
});
