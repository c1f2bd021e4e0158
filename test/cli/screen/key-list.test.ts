import { expect, test } from "bun:test";
import type { KeyRecord } from "../../../src/auth/key-file.ts";
import { formatKeyList } from "../../../src/cli/screen/key-list.ts";
import { UNBOUND } from "../../../src/model/binding.ts";
import type { AppId } from "../../../src/model/ids.ts";

const NOW_MS = Date.UTC(2026, 2, 20, 12, 30, 45);
const DAY_MS = 86_400_000;

const PLAIN: KeyRecord = {
  id: "k_0aB1cD2e",
  appId: "default" as AppId,
  permissions: ["read", "write"],
  tier: "unlimited",
  label: "",
  ...UNBOUND,
  createdMs: NOW_MS - 30 * DAY_MS,
  lastFour: "x9Yz",
  expiresMs: null,
  revokedMs: null,
  sha256: "0f".repeat(32),
};
const BOUND: KeyRecord = {
  ...PLAIN,
  id: "k_4fTz81Qa",
  permissions: ["write"],
  label: "owntracks",
  deviceId: "pixel7",
  userId: "anna",
};
const KEYS = [
  PLAIN,
  BOUND,
  { ...PLAIN, id: "k_00000001", expiresMs: NOW_MS + DAY_MS },
  { ...PLAIN, id: "k_00000002", expiresMs: NOW_MS },
  { ...PLAIN, id: "k_00000003", expiresMs: NOW_MS, revokedMs: NOW_MS - DAY_MS },
];

test("formatKeyList() is a line for a key in a pipe and on a wide terminal", () => {
  const table = `\
id          app      permissions  device  user  tier       label      created     last four  ends
k_0aB1cD2e  default  read,write   -       -     unlimited  -          2026-02-18  x9Yz       -
k_4fTz81Qa  default  write        pixel7  anna  unlimited  owntracks  2026-02-18  x9Yz       -
k_00000001  default  read,write   -       -     unlimited  -          2026-02-18  x9Yz       2026-03-21 12:30
k_00000002  default  read,write   -       -     unlimited  -          2026-02-18  x9Yz       expired 2026-03-20 12:30
k_00000003  default  read,write   -       -     unlimited  -          2026-02-18  x9Yz       revoked 2026-03-19 12:30
`;
  expect(formatKeyList(KEYS, NOW_MS, null)).toBe(table);
  expect(formatKeyList(KEYS, NOW_MS, 120)).toBe(table);
});

test("formatKeyList() is two lines for a key, of at most 80 columns, on a narrow terminal", () => {
  const list = formatKeyList(KEYS, NOW_MS, 80);
  expect(list).toStartWith(`\
id          app      permissions  tier       last four  ends
k_0aB1cD2e  default  read,write   unlimited  x9Yz       -
            device -, user -, created 2026-02-18, -
k_4fTz81Qa  default  write        unlimited  x9Yz       -
            device pixel7, user anna, created 2026-02-18, owntracks
`);
  expect(list).toEndWith("-\n");
  for (const line of list.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
});
