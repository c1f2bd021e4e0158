import { expect, test } from "bun:test";
import type { KeyRecord } from "../../../../src/auth/key-file.ts";
import { formatKeyList } from "../../../../src/cli/keys/key-list.ts";
import { UNBOUND } from "../../../../src/model/binding.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";

const NOW_MS = Date.UTC(2026, 2, 20, 12, 30, 45);
const DAY_MS = 86_400_000;

const PLAIN: KeyRecord = {
  id: "k_0aB1cD2e",
  appId: "default" as AppId,
  permissions: ["read", "write"],
  view: null,
  tier: "unlimited",
  label: "",
  ...UNBOUND,
  makerId: null,
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

const SHARED: KeyRecord = {
  ...PLAIN,
  id: "k_9sHaReD0",
  permissions: ["view"],
  view: { deviceIds: ["bus 7", "🚌"] as DeviceId[], notBeforeMs: NOW_MS - DAY_MS, precisionMeters: 500 },
  tier: "standard",
  label: "for ada",
  expiresMs: NOW_MS + DAY_MS,
};

test("formatKeyList() says what share links show, where there are any", () => {
  const shows = '"bus 7", "🚌" from 2026-03-19T12:30:45Z on, in cells of 500 m and whole minutes';
  const wide = formatKeyList([SHARED, PLAIN], NOW_MS, null).split("\n");
  expect(wide[0]).toEndWith("  ends              shows");
  expect(wide[1]).toEndWith(`  2026-03-21 12:30  ${shows}`);
  expect(wide[2]).toEndWith("  -                 -");
  const many = Array.from({ length: 1000 }, (_, n) => `bus ${n}`) as DeviceId[];
  const all = { ...SHARED, view: { deviceIds: many, notBeforeMs: NOW_MS, precisionMeters: null } };
  expect(formatKeyList([SHARED, all], NOW_MS, 80)).toBe(`\
id          app      permissions  tier      last four  ends
k_9sHaReD0  default  view         standard  x9Yz       2026-03-21 12:30
            device -, user -, created 2026-02-18, for ada
            shows ${shows}
k_9sHaReD0  default  view         standard  x9Yz       2026-03-21 12:30
            device -, user -, created 2026-02-18, for ada
            shows "bus 0", "bus 1", "bus 2" and 997 more from 2026-03-20T12:30:45Z on
`);
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

test("formatKeyList() names the key that made another, and with which that has ended", () => {
  const made = { ...BOUND, id: "k_00000004", makerId: PLAIN.id };
  const ended = { ...BOUND, id: "k_00000005", makerId: "k_00000003" };
  const orphan = { ...BOUND, id: "k_00000006", makerId: "k_gone0000" };
  const wide = formatKeyList([...KEYS, made, ended, orphan], NOW_MS, null).split("\n");
  expect(wide[0]).toEndWith("  ends                      made by");
  expect(wide[1]).toEndWith("  x9Yz       -                         -");
  expect(wide[6]).toEndWith("  x9Yz       -                         k_0aB1cD2e");
  expect(wide[7]).toEndWith("  x9Yz       with k_00000003           k_00000003");
  expect(wide[8]).toEndWith("  x9Yz       with k_gone0000           k_gone0000");
  expect(formatKeyList([made], NOW_MS, 80)).toContain(
    "device pixel7, user anna, created 2026-02-18 by k_0aB1cD2e, owntracks",
  );
});

test("formatKeyList() shows a terminal nothing that would turn the direction of what follows, or begin a line", () => {
  const deviceId = "van\u202e7\nk_00000009" as DeviceId;
  const odd = {
    ...BOUND,
    deviceId,
    userId: "\u2066anna" as NonNullable<KeyRecord["userId"]>,
    label: "\u202etxt",
  };
  const shared = { ...PLAIN, view: { deviceIds: [deviceId], notBeforeMs: NOW_MS, precisionMeters: null } };
  for (const columns of [null, 80]) {
    const list = formatKeyList([odd, shared], NOW_MS, columns);
    expect(list).not.toMatch(/[\u202a-\u202e\u2066-\u2069]|\nk_00000009/);
    expect(list).toContain("van\ufffd7\ufffdk_00000009");
    expect(list).toContain("\ufffdtxt");
  }
});
