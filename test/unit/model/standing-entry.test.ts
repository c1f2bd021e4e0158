import { describe, expect, test } from "bun:test";
import { viewsOf } from "../../../src/lib/frames/views.ts";
import { FormatVersionError } from "../../../src/lib/text/versioned-json.ts";
import type { AppId, DeviceId, UserId } from "../../../src/model/ids.ts";
import {
  decodeStandingEntry,
  encodeStandingEntry,
  type StandingEntry,
} from "../../../src/model/standing-entry.ts";
import type { Area } from "../../../src/model/watches/area.ts";
import { watchClockEntry } from "../../../src/model/watches/watch-clock-entry.ts";
import { LOOK_DEFAULT, RULES_DEFAULTS, type WatchTerms } from "../../../src/model/watches/watch-rules.ts";
import { deliveriesEntry } from "../../../src/model/webhooks/deliveries-entry.ts";
import { WEBHOOK_STATES } from "../../../src/model/webhooks/webhook.ts";
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
    corrections: fc.array(fc.constantFrom("c1", "c2")),
  })
  .map(({ deviceIds, userId, startMs, endMs, block, newest, corrections }): StandingEntry => {
    const ids = (userId === null ? deviceIds : []) as DeviceId[];
    const subject = { appId: "app" as AppId, deviceIds: ids, userId: userId as UserId | null };
    const erasure = {
      ...subject,
      range: { startMs, endMs },
      id: "e",
      block,
      createdMs: 5,
      createdBy: "key",
      continues: false,
    };
    return { kind: "erasure", appId: "app" as AppId, previous: 7, erasure, newest, corrections };
  });

const areas: fc.Arbitrary<Area> = fc.oneof(
  fc.record({
    type: fc.constant("Point" as const),
    latitude: fc.constantFrom(-90, 0.1),
    longitude: fc.constantFrom(180, 1e-9),
    radiusMeters: fc.constantFrom(10, 99.5),
  }),
  fc.record({
    type: fc.constant("LineString" as const),
    line: fc.constant(Float64Array.of(179, 0, -179, 0.1)),
    bufferMeters: fc.constant(50),
  }),
  fc
    .array(fc.array(fc.constantFrom(4, 7), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 })
    .map((polygons) => ({
      type: polygons.length === 1 ? ("Polygon" as const) : ("MultiPolygon" as const),
      polygons: polygons.map((rings) =>
        rings.map((corners) => Float64Array.from({ length: 2 * corners }, (_, at) => at / 3)),
      ),
    })),
);

const looks = fc.constantFrom(LOOK_DEFAULT, {
  ...LOOK_DEFAULT,
  name: "ä\u{1F68C}",
  tags: ["a"],
  metadata: '{"b":1}',
});
const schedule = {
  timezone: "UTC",
  weekly: [{ days: ["mon"], from: "08:00", to: "18:00" }],
  except: ["2026-12-25"],
};

const watches = fc
  .record({
    isAlert: fc.boolean(),
    area: areas,
    look: looks,
    rules: fc.constantFrom(
      {},
      { schedule, isActive: false, devices: ["bus" as DeviceId] },
      { confirmSeconds: 3 },
    ),
    isDeletion: fc.boolean(),
    part: fc.constantFrom(null, { importId: "i", index: 1, count: 2 }),
    past: fc.constantFrom(null, { version: 3, createdMs: 1, changedMs: 2 }),
  })
  .map(({ isAlert, area, look, rules, isDeletion, part, past }): StandingEntry => {
    const terms: WatchTerms = isAlert
      ? { kind: "alert", rules: { ...RULES_DEFAULTS.alert, ...rules, type: "battery_below", limit: 20 } }
      : { kind: "fence", rules: { ...RULES_DEFAULTS.fence, ...rules }, area };
    const common = { kind: "watch", appId: "app" as AppId, id: "w", watchKind: terms.kind, atMs: 7 } as const;
    return { ...common, draft: isDeletion ? null : { look, terms }, part, past };
  });

const clocks = fc.nat().map((atMs): StandingEntry => watchClockEntry(atMs));

const webhooks = fc
  .record({
    isDeletion: fc.boolean(),
    types: fc.constantFrom(null, ["enter", "exit"]),
    devices: fc.constantFrom(null, [], ["bus" as DeviceId, "\u{1F68C}" as DeviceId]),
    state: fc.constantFrom(...WEBHOOK_STATES),
  })
  .map(({ isDeletion, ...members }): StandingEntry => {
    const common = { kind: "webhook", appId: "app" as AppId, id: "w" } as const;
    const times = { createdMs: 1, changedMs: 2, stateMs: 3 };
    const rest = { name: "ä", url: "https://a.example/b", watches: ["f"], users: null, sendsLate: true };
    const webhook = { id: "w", appId: common.appId, keyId: "k_00000000", ...times, ...rest, reason: null };
    return { ...common, webhook: isDeletion ? null : { ...webhook, ...members } };
  });

/** What the nodes of a cluster share by the log alone. */
const shared = fc
  .record({
    isEvents: fc.boolean(),
    count: fc.nat(3),
    userId: fc.constantFrom("", "\u{1F68C}"),
    status: fc.constantFrom(null, 204),
    term: fc.constantFrom(null, 7),
    decidedMs: fc.constantFrom(null, 9.5),
  })
  .map(({ isEvents, count, userId, status, term, decidedMs }): StandingEntry => {
    const names = Array.from({ length: count }, (_, index) => `e${index}`);
    const whose = { deviceId: "bus" as DeviceId, userId: userId as UserId };
    if (!isEvents)
      return deliveriesEntry(
        term,
        names.map((webhookId) => ({
          ...{ webhookId, seq: 3 },
          failing: status === null ? { failures: 2, nextMs: 8 } : null,
        })),
        names.map((eventId) => ({
          ...{ webhookId: "w", appId: "app" as AppId, eventId, revision: 2, ...whose, atMs: 5, latencyMs: 6 },
          ...{ outcome: "parked", status, answer: "ä" },
        })),
      );
    const ending = status === null ? null : { reason: "moved", enteredMs: 3, positions: 4 };
    const events = names.map((id) => ({
      ...{ seq: 5, revision: 2, isWithdrawn: false, isLate: true, madeMs: 6, decidedMs, id, kind: "exit" },
      ...{ timestampMs: 4, ...whose, watchId: "f", version: 1, visitId: id, ending, dueMs: 0 },
    }));
    return { kind: "events", appId: "app" as AppId, events };
  });

function decode(bytes: Uint8Array, start = 0) {
  return decodeStandingEntry(viewsOf(bytes), start, bytes.length, PATH);
}

test("encodeStandingEntry() and decodeStandingEntry() give every entry back, behind any headroom", () => {
  fc.assert(
    fc.property(
      fc.oneof(entries, erasures, watches, webhooks, clocks, shared),
      fc.constantFrom(0, 8, 24),
      (entry, headroom) => {
        const bytes = encodeStandingEntry(entry, headroom);
        expect(bytes.length % 8).toBe(0);
        expect(decode(bytes, headroom)).toEqual(entry);
      },
    ),
  );
});

test("decodeStandingEntry() takes bytes of any other length for no entry", () => {
  fc.assert(
    fc.property(fc.oneof(entries, erasures, watches, webhooks, clocks, shared), (entry) => {
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
