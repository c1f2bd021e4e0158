import { expect, test } from "bun:test";
import { encodeKeyFile, type KeyRecord, parseKeyFile, parseLabel } from "../../src/auth/key-file.ts";
import type { AppId } from "../../src/model/ids.ts";

const KEY: KeyRecord = {
  id: "k_0aB1cD2e",
  appId: "default" as AppId,
  permissions: ["read", "write"],
  tier: "free",
  label: "buses 🚌",
  deviceId: "bus 7",
  userId: null,
  createdMs: 1_700_000_000_000,
  lastFour: "x9Yz",
  expiresMs: null,
  revokedMs: 1_700_000_000_001,
  sha256: "0f".repeat(32),
};

test("parseKeyFile() reads back what encodeKeyFile() wrote", () => {
  const keys = [KEY, { ...KEY, id: "k_00000000", sha256: "00".repeat(32), expiresMs: 5, revokedMs: null }];
  expect(parseKeyFile(encodeKeyFile(keys))).toEqual({ ok: true, value: keys });
  expect(parseKeyFile(encodeKeyFile([]))).toEqual({ ok: true, value: [] });
});

test("parseKeyFile() reads keys of version 1, which knew no bindings, as unbound; written they are version 2", () => {
  const { deviceId: _, userId: __, ...before } = KEY;
  const read = parse({ version: 1, keys: [before] });
  expect(read).toEqual({ ok: true, value: [{ ...before, deviceId: null, userId: null }] });
  if (!read.ok) throw new Error(read.error);
  expect(JSON.parse(new TextDecoder().decode(encodeKeyFile(read.value)))).toEqual({
    version: 2,
    keys: [{ ...before, deviceId: null, userId: null }],
  });
});

test("parseKeyFile() reads what version 2 wrote, for ever", () => {
  const written = `{"version": 2, "keys": [{
    "id": "k_4fTz81Qa", "appId": "default", "permissions": ["write"], "tier": "standard", "label": "owntracks",
    "deviceId": "pixel7", "userId": "anna", "createdMs": 1700000000000, "lastFour": "x9Yz",
    "expiresMs": null, "revokedMs": null, "sha256": "${"0f".repeat(32)}"}]}`;
  expect(parseKeyFile(new TextEncoder().encode(written))).toEqual({
    ok: true,
    value: [
      {
        id: "k_4fTz81Qa",
        appId: "default" as AppId,
        permissions: ["write"],
        tier: "standard",
        label: "owntracks",
        deviceId: "pixel7",
        userId: "anna",
        createdMs: 1_700_000_000_000,
        lastFour: "x9Yz",
        expiresMs: null,
        revokedMs: null,
        sha256: "0f".repeat(32),
      },
    ],
  });
});

test("parseKeyFile() names the first member of a key that is wrong", () => {
  const wrong: readonly [keyof KeyRecord, unknown][] = [
    ["id", "k_1"],
    ["appId", "../etc"],
    ["permissions", []],
    ["permissions", ["read", "read"]],
    ["permissions", ["read", "admin"]],
    ["tier", "gold"],
    ["label", "a\u001b[2J"],
    ["deviceId", undefined],
    ["deviceId", ""],
    ["deviceId", ".."],
    ["deviceId", "x".repeat(129)],
    ["deviceId", 7],
    ["userId", undefined],
    ["userId", "a\nb"],
    ["userId", "ANONYMOUS"],
    ["createdMs", -1],
    ["createdMs", "today"],
    ["lastFour", "abc"],
    ["expiresMs", 1.5],
    ["revokedMs", undefined],
    ["sha256", "0F".repeat(32)],
  ];
  for (const [member, value] of wrong) {
    expect(parse({ version: 2, keys: [KEY, { ...KEY, [member]: value }] })).toEqual({
      ok: false,
      error: `key number 2 has no valid ${member}`,
    });
  }
});

test("parseKeyFile() says what is wrong with a file as a whole", () => {
  expect(parse([])).toEqual({ ok: false, error: "it is not a JSON object" });
  expect(parseKeyFile(new Uint8Array([0x7b, 0xff]))).toEqual({ ok: false, error: "it is not a JSON object" });
  expect(parse({ keys: [] })).toEqual({ ok: false, error: "its format version is missing" });
  expect(parse({ version: 1 })).toEqual({ ok: false, error: "its list of keys is missing" });
  expect(parse({ version: 3, keys: "unknown shape" })).toEqual({
    ok: false,
    error: "it has format version 3, and this program knows up to 2",
  });
  expect(parse({ version: 2, keys: [KEY, KEY] })).toEqual({
    ok: false,
    error: 'key number 2 ("k_0aB1cD2e") is there twice',
  });
});

test("parseLabel() takes up to 128 characters without control characters", () => {
  expect(parseLabel("🚌".repeat(128))).not.toBeNull();
  for (const text of ["🚌".repeat(129), "a\nb", "\u009b2J"]) expect(parseLabel(text)).toBeNull();
});

function parse(content: unknown) {
  return parseKeyFile(new TextEncoder().encode(JSON.stringify(content)));
}
