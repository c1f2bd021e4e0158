import { describe, expect, test } from "bun:test";
import { viewsOf } from "../../../src/lib/frames/views.ts";
import { FormatVersionError } from "../../../src/lib/text/versioned-json.ts";
import type { AppId, DeviceId, UserId } from "../../../src/model/ids.ts";
import {
  decodeStandingEntry,
  encodeStandingEntry,
  type StandingEntry,
} from "../../../src/model/standing-entry.ts";
import { profileOf } from "../../reference/profiles.ts";
import * as fc from "../../support/fast-check.ts";
import { arbitraryProfile } from "../../support/reports/arbitrary-profiles.ts";

const PATH = "/data/wal/00000000000000000001.wal";

const entries = fc
  .tuple(
    fc.constantFrom("app", "a.b-c_D9"),
    fc.constantFrom("bus", "ä\u{1F68C}"),
    fc.option(arbitraryProfile),
  )
  .map(
    ([appId, deviceId, members]): StandingEntry => ({
      kind: "device_profile",
      appId: appId as AppId,
      deviceId: deviceId as DeviceId,
      profile: members === null ? null : profileOf(members),
    }),
  );

const erasures = fc
  .record({
    deviceIds: fc.uniqueArray(fc.constantFrom("bus", "ä\u{1F68C}"), { minLength: 1 }),
    userId: fc.option(fc.constantFrom("u")),
    startMs: fc.constantFrom(Number.NEGATIVE_INFINITY, 0, 1_700_000_000_000),
    endMs: fc.constantFrom(Number.POSITIVE_INFINITY, 1_700_000_000_001),
    block: fc.boolean(),
    newest: fc.constantFrom(
      [],
      [{ deviceId: "bus" as DeviceId, record: { timestamp: 1_700_000_000_000, latitude: 2, longitude: 3 } }],
    ),
  })
  .map(({ deviceIds, userId, startMs, endMs, block, newest }): StandingEntry => {
    const ids = (userId === null ? deviceIds : []) as DeviceId[];
    const subject = { appId: "app" as AppId, deviceIds: ids, userId: userId as UserId | null };
    const erasure = { ...subject, range: { startMs, endMs }, id: "e", block, createdMs: 5, createdBy: "key" };
    return { kind: "erasure", appId: "app" as AppId, erasure, newest };
  });

function decode(bytes: Uint8Array, start = 0) {
  return decodeStandingEntry(viewsOf(bytes), start, bytes.length, PATH);
}

test("encodeStandingEntry() and decodeStandingEntry() give every entry back, behind any headroom", () => {
  fc.assert(
    fc.property(fc.oneof(entries, erasures), fc.constantFrom(0, 8, 24), (entry, headroom) => {
      const bytes = encodeStandingEntry(entry, headroom);
      expect(bytes.length % 8).toBe(0);
      expect(decode(bytes, headroom)).toEqual(entry);
    }),
  );
});

test("decodeStandingEntry() takes bytes of any other length for no entry", () => {
  fc.assert(
    fc.property(fc.oneof(entries, erasures), (entry) => {
      const bytes = encodeStandingEntry(entry, 0);
      for (let length = 0; length < bytes.length; length += 8)
        expect(decode(bytes.slice(0, length))).toBeNull();
      expect(decode(new Uint8Array([...bytes, ...new Uint8Array(8)]))).toBeNull();
    }),
    { numRuns: 30 },
  );
});

describe("decodeStandingEntry()", () => {
  const written = (json: string) => {
    const bytes = encodeStandingEntry(
      {
        kind: "device_profile",
        appId: "app" as AppId,
        deviceId: "d" as DeviceId,
        profile: profileOf({ name: "x".repeat(120) }),
      },
      0,
    );
    const views = viewsOf(bytes);
    const room = views.bytes.readUInt32LE(4);
    views.bytes.write(json.padEnd(room), 8 + 3 + 1);
    return new Uint8Array(views.bytes);
  };

  test("refuses members that a newer program added", () => {
    expect(() => decode(written('{"name":"x","mood":"good"}'))).toThrow(
      new FormatVersionError("device profile", PATH, "known members", 'member "mood"'),
    );
  });

  test.each(["[1]", "{", '{"color":"red"}', '{"name":7}'])("takes %s for no profile", (json) => {
    expect(decode(written(json))).toBeNull();
  });
});
