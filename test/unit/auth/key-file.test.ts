import { expect, test } from "bun:test";
import { encodeKeyFile, type KeyRecord, parseKeyFile, parseLabel } from "../../../src/auth/key-file.ts";
import type { ViewSpec } from "../../../src/auth/view.ts";
import type { AppId, DeviceId } from "../../../src/model/ids.ts";

const KEY: KeyRecord = {
  id: "k_0aB1cD2e",
  appId: "default" as AppId,
  permissions: ["read", "write"],
  view: null,
  tier: "free",
  label: "buses 🚌",
  deviceId: "bus 7",
  userId: null,
  makerId: null,
  createdMs: 1_700_000_000_000,
  lastFour: "x9Yz",
  expiresMs: null,
  revokedMs: 1_700_000_000_001,
  sha256: "0f".repeat(32),
};

const VIEW: ViewSpec = {
  deviceIds: ["bus 7", "🚌"] as DeviceId[],
  notBeforeMs: 1_699_999_000_000,
  precisionMeters: 500,
};

/** Of a share link. */
const VIEW_KEY: KeyRecord = {
  ...KEY,
  id: "k_4fTz81Qa",
  permissions: ["view"],
  view: VIEW,
  deviceId: null,
  expiresMs: 1_700_000_000_000,
  sha256: "1f".repeat(32),
};

test("parseKeyFile() reads back what encodeKeyFile() wrote", () => {
  const exact = {
    ...VIEW_KEY,
    id: "k_00000001",
    view: { ...VIEW, precisionMeters: null },
    sha256: "2f".repeat(32),
  };
  const keys = [
    KEY,
    VIEW_KEY,
    exact,
    { ...KEY, id: "k_00000002", makerId: KEY.id, sha256: "3f".repeat(32) },
    { ...KEY, id: "k_00000000", sha256: "00".repeat(32), expiresMs: 5, revokedMs: null },
  ];
  expect(parseKeyFile(encodeKeyFile(keys))).toEqual({ ok: true, value: keys });
  expect(parseKeyFile(encodeKeyFile([]))).toEqual({ ok: true, value: [] });
});

test("parseKeyFile() names the first member of a key that is wrong", () => {
  const wrong: readonly [keyof KeyRecord, unknown][] = [
    ["id", "k_1"],
    ["appId", "../etc"],
    ["permissions", []],
    ["permissions", ["read", "read"]],
    ["permissions", ["read", "admin"]],
    ["permissions", ["view", "read"]],
    ["view", undefined],
    ["view", VIEW],
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
    ["makerId", undefined],
    ["makerId", "k_1"],
    ["makerId", 7],
    ["createdMs", -1],
    ["createdMs", "today"],
    ["lastFour", "abc"],
    ["expiresMs", 1.5],
    ["revokedMs", undefined],
    ["sha256", "0F".repeat(32)],
  ];
  for (const [member, value] of wrong) {
    expect(parse({ version: 4, keys: [KEY, { ...KEY, [member]: value }] })).toEqual({
      ok: false,
      error: `key number 2 has no valid ${member}`,
    });
  }
});

test("parseKeyFile() takes no view that shows nothing, everything, or has no end", () => {
  const wrong: readonly (readonly [keyof KeyRecord, unknown])[] = [
    ["view", null],
    ["view", undefined],
    ["view", [VIEW]],
    ["view", { ...VIEW, deviceIds: [] }],
    ["view", { ...VIEW, deviceIds: "bus" }],
    ["view", { ...VIEW, deviceIds: ["bus", ".."] }],
    ["view", { ...VIEW, deviceIds: ["bus", 7] }],
    ["view", { ...VIEW, deviceIds: Array(1001).fill("bus") }],
    ["view", { ...VIEW, notBeforeMs: null }],
    ["view", { ...VIEW, notBeforeMs: -1 }],
    ["view", { ...VIEW, notBeforeMs: 0.5 }],
    ["view", { ...VIEW, precisionMeters: undefined }],
    ["view", { ...VIEW, precisionMeters: 9.9 }],
    ["view", { ...VIEW, precisionMeters: 100_001 }],
    ["view", { ...VIEW, precisionMeters: "500" }],
    ["permissions", ["view", "write"]],
    ["expiresMs", null],
  ];
  for (const [member, value] of wrong) {
    expect(parse({ version: 4, keys: [{ ...VIEW_KEY, [member]: value }] })).toEqual({
      ok: false,
      error: `key number 1 has no valid ${member}`,
    });
  }
});

test("parseKeyFile() reads what version 4 wrote, for ever", () => {
  const written = `{"version": 4, "keys": [{
    "id": "k_0aB1cD2e", "appId": "default", "permissions": ["read", "write"], "view": null, "tier": "free",
    "label": "buses 🚌", "deviceId": "bus 7", "userId": null, "makerId": "k_4fTz81Qa", "createdMs": 1700000000000,
    "lastFour": "x9Yz", "expiresMs": null, "revokedMs": 1700000000001, "sha256": "${"0f".repeat(32)}"}]}`;
  const made = { ...KEY, makerId: "k_4fTz81Qa" };
  expect(parseKeyFile(new TextEncoder().encode(written))).toEqual({ ok: true, value: [made] });
});

test("parseKeyFile() says what is wrong with a file as a whole", () => {
  expect(parse([])).toEqual({ ok: false, error: "it is not a JSON object" });
  expect(parseKeyFile(new Uint8Array([0x7b, 0xff]))).toEqual({ ok: false, error: "it is not a JSON object" });
  expect(parse({ keys: [] })).toEqual({ ok: false, error: "its format version is missing" });
  expect(parse({ version: 4 })).toEqual({ ok: false, error: "its list of keys is missing" });
  for (const [version, writer] of [
    [1, "program from before the first release"],
    [3, "program from before the first release"],
    [5, "newer program"],
  ]) {
    expect(parse({ version, keys: [KEY] })).toEqual({
      ok: false,
      error: `it has format version ${version} of a ${writer}, and this program reads version 4`,
    });
  }
  expect(parse({ version: 4, keys: [KEY, KEY] })).toEqual({
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
