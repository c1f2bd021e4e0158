import { describe, expect, test } from "bun:test";
import type { ClientMessage } from "../../../../src/clients/client.ts";
import { type Content, LongList } from "../../../../src/clients/content.ts";
import { deletesRefusedPoints } from "../../../../src/clients/owntracks/apps.ts";
import { encryptBox, keyOf, openBox } from "../../../../src/clients/owntracks/encryption.ts";
import { owntracks } from "../../../../src/clients/owntracks/owntracks.ts";
import { readContent } from "../../../../src/clients/read-content.ts";
import { inOneStep, type Steps } from "../../../../src/lib/schedule/steps.ts";
import { collect, messageOf } from "../../../support/clients/collected.ts";
import * as fc from "../../../support/fast-check.ts";

const LOCATION = { _type: "location", lat: 52.5, lon: 13.4, tst: 1_770_000_000 };

function pointOf(members: object, other: Partial<ClientMessage> = {}) {
  const message = messageOf({ kind: "json", value: { ...LOCATION, ...members } }, other);
  return collect(owntracks, message).points[0];
}

describe("whose it is", () => {
  const topic = "owntracks/anna/pixel";
  const url = new URLSearchParams({ u: "bea", d: "iphone" });
  const headers = { "x-limit-u": "carl", "x-limit-d": "nokia" };

  test.each([
    ["headers before all", { tid: "px", topic }, { headers, query: url, basicUser: "eve" }, "carl", "nokia"],
    ["the URL", { tid: "px", topic }, { query: url, basicUser: "eve" }, "bea", "iphone"],
    ["the topic", { tid: "px", topic }, { basicUser: "eve" }, "anna", "pixel"],
    ["a topic with a slash before it", { topic: `/${topic}` }, {}, "anna", "pixel"],
    ["a topic of more parts", { topic: `${topic}/event` }, {}, "anna", "pixel"],
    ["the broker's topic before the message's", { topic }, { topic: "owntracks/dora/moto" }, "dora", "moto"],
    ["the tid, and who logged in", { tid: "px" }, { basicUser: "eve" }, "eve", "px"],
    ["nothing", {}, {}, null, null],
    ["a topic that is no text", { topic: 5 }, {}, null, null],
    [
      "iOS before anybody typed a name: its vendor's id, and who logged in",
      { topic: "owntracks/user/4B1F", tid: "1F" },
      { headers: { "x-limit-u": "user", "x-limit-d": "4B1F" }, basicUser: "anna" },
      "anna",
      "4B1F",
    ],
  ])("%s", (_title, members, other, user, device) => {
    expect(pointOf(members, other)).toMatchObject({ user, device });
  });
});

describe("what can't be read is from whom", () => {
  const from = { device: "pixel", user: "anna" };
  const headers = { "x-limit-u": "anna", "x-limit-d": "pixel" };
  const topic = "owntracks/anna/pixel";

  test.each<[string, Content]>([
    ["no JSON", { kind: "unreadable" }],
    ["a text", { kind: "text", text: "garbage" }],
    ["another shape", { kind: "json", value: { some: "thing" } }],
    ["another shape in a list", { kind: "json", value: [{ some: "thing" }] }],
    ["no position", { kind: "json", value: { _type: "location", tid: "px" } }],
    ["a box that nobody can open", { kind: "json", value: { _type: "encrypted", data: "AAAA" } }],
  ])("%s: the headers say it, or the broker's topic", (_title, content) => {
    for (const other of [{ headers }, { topic }]) {
      expect(collect(owntracks, messageOf(content, other)).refusedFrom).toEqual([from]);
    }
  });
});

describe("vel", () => {
  const app = { _id: "0d871a61", created_at: 1_770_000_003 };

  test.each([
    ["km/h with a topic", { topic: "owntracks/anna/pixel" }, {}, 10],
    ["km/h with _id and created_at", app, {}, 10],
    ["m/s with an _id alone", { _id: app._id }, {}, 36],
    ["m/s with created_at alone", { created_at: app.created_at }, {}, 36],
    ["km/h from the Android app", {}, { headers: { "user-agent": "Owntracks-Android/gms/4205" } }, 10],
    ["m/s from others", {}, { headers: { "user-agent": "okhttp/4.12" } }, 36],
    ["km/h from a broker", {}, { topic: "owntracks/anna/pixel" }, 10],
    ["what the operator says, against all", app, { speedUnit: "mph" as const }, 16.093],
  ])("%s", (_title, members, other, speed) => {
    expect(pointOf({ ...members, vel: 36 }, other)?.details).toMatchObject({ speed });
  });

  test("of 0 is a phone that stands, and then a course of 0 is none", () => {
    expect(pointOf({ vel: 0, cog: 0 })?.details).toEqual({ speed: 0 });
    expect(pointOf({ cog: 0 })?.details).toEqual({});
    expect(pointOf({ vel: 1, cog: 0 })?.details).toEqual({ speed: 1, bearing: 0 });
    expect(pointOf({ vel: -1, cog: -1, acc: -1, vac: 0, batt: -100 })?.details).toEqual({});
  });

  test("of a CSV line is km/h, unless the operator says otherwise", () => {
    const content: Content = { kind: "text", text: "X0,542A46AA,k,30365854,7575769,26,36,7,5,872\n" };
    expect(collect(owntracks, messageOf(content)).points[0]?.details.speed).toBe(10);
    expect(collect(owntracks, messageOf(content, { speedUnit: "mps" })).points[0]?.details.speed).toBe(36);
  });
});

describe("a position", () => {
  test("that is left out by half lies on the equator or at Greenwich, one that is null nowhere", () => {
    expect(pointOf({ lat: undefined })).toMatchObject({ latitude: 0, longitude: 13.4 });
    expect(pointOf({ lat: null })).toMatchObject({ latitude: null, longitude: 13.4 });
    expect(pointOf({ lat: "north" })).toMatchObject({ latitude: Number.NaN });
    // By another name it is not left out.
    expect(pointOf({ lon: undefined, lng: 13.4 })).toMatchObject({ longitude: null });
    expect(pointOf({ lat: "52.5" })).toMatchObject({ latitude: 52.5 });
    for (const nowhere of [
      { lat: undefined, lon: undefined },
      { lat: null, lon: undefined },
    ]) {
      const content: Content = { kind: "json", value: { ...LOCATION, ...nowhere } };
      expect(collect(owntracks, messageOf(content)).refused).toMatchObject([{ reason: "no_position" }]);
    }
  });

  test("is kept without the names of Wi-Fi networks, and as a message that is read the same", () => {
    const value = {
      ...LOCATION,
      SSID: "home",
      BSSID: "02:00",
      image: "/9j/",
      topic: "owntracks/anna/pixel",
      vel: 36,
    };
    const { points, raws } = collect(owntracks, messageOf({ kind: "json", value }));
    expect(Object.keys(raws[0] as object)).toEqual(["_type", "lat", "lon", "tst", "topic", "vel"]);
    expect(collect(owntracks, messageOf({ kind: "json", value: raws[0] })).points).toEqual(points);
  });
});

describe("a message of a broker", () => {
  const byBroker = (content: Content, topic: string) => collect(owntracks, messageOf(content, { topic }));

  test("that is empty only says that a contact is to be forgotten", () => {
    expect(byBroker({ kind: "empty" }, "owntracks/anna/pixel")).toMatchObject({ points: [], refused: [] });
  });

  test("under a topic that names nobody is ignored, whatever it is", () => {
    for (const content of [{ kind: "json", value: LOCATION }, { kind: "unreadable" }] as const) {
      for (const topic of ["owntracks/anna", "owntracks", "/owntracks/anna", ""]) {
        const { points, refused, skipped } = byBroker(content, topic);
        expect([points, refused, skipped]).toEqual([[], [], ["topic without a device"]]);
      }
    }
  });

  test("under a topic of events is read as any other", () => {
    const transition = { ...LOCATION, _type: "transition", event: "enter" };
    const { skipped } = byBroker({ kind: "json", value: transition }, "owntracks/anna/pixel/event");
    expect(skipped).toEqual(["transition"]);
  });
});

describe("a list of messages", () => {
  const LONG = new LongList(1000, (index) => ({ ...LOCATION, tst: LOCATION.tst + index }));

  test("may be long, and rests at times", () => {
    const { points } = collect(owntracks, messageOf({ kind: "json", value: LONG }));
    expect(points.map(({ timestampMs }) => timestampMs! - 1_770_000_000_000)).toEqual(
      Array.from({ length: 1000 }, (_, index) => index * 1000),
    );
    const sink = { add() {}, refuse() {}, skip() {} };
    const steps = [...owntracks.read(messageOf({ kind: "json", value: LONG }), sink)];
    expect(steps.length).toBeGreaterThan(10);
  });

  test("is taken but for what can't be read, of which each is kept alone", () => {
    const sealed = { _type: "encrypted", data: Buffer.alloc(60).toString("base64") };
    const value = [LOCATION, 5, { some: "thing" }, sealed, { _type: "dump", password: "hunter2" }, LOCATION];
    const { points, refused, skipped } = collect(owntracks, messageOf({ kind: "json", value }));
    expect(points).toHaveLength(2);
    expect(refused).toEqual([
      { reason: "unknown_shape", raw: [5] },
      { reason: "unknown_shape", raw: [{ some: "thing" }] },
      { reason: "undecryptable", raw: [sealed] },
    ]);
    expect(skipped).toEqual(["dump"]);
  });

  test("that is empty holds nothing to keep", () => {
    const { points, refused, skipped } = collect(owntracks, messageOf({ kind: "json", value: [] }));
    expect([points, refused, skipped]).toEqual([[], [], ["empty message"]]);
  });
});

describe("what an encrypted message holds", () => {
  const key = keyOf("phrase");

  function opened(clear: string) {
    const box = encryptBox(key, new TextEncoder().encode(clear));
    const value = { _type: "encrypted", data: Buffer.from(box).toString("base64") };
    return collect(
      owntracks,
      messageOf({ kind: "json", value }, { decrypt: (_device, box) => openBox(key, box) }),
    );
  }

  test("is read like any message, and never kept where it is a dump", () => {
    expect(opened(JSON.stringify(LOCATION)).points).toHaveLength(1);
    expect(opened('{"_type":"dump","configuration":{}}')).toMatchObject({ skipped: ["dump"], refused: [] });
  });

  test("may be no message; then the whole is kept as it came", () => {
    for (const clear of ["", "{", "5", "[1]", '{"_type":"encrypted","data":""}', '{"no":"type"}']) {
      expect(opened(clear).refused).toEqual([{ reason: "unknown_shape", raw: undefined }]);
    }
  });
});

describe("a message with a photo", () => {
  const PHOTO = Buffer.alloc(2 * 1024 * 1024, 0xfb).toString("base64");
  const key = keyOf("phrase");

  /** Reads a body of any length, as it comes in. */
  function readLong(text: string) {
    const content = lastOf(readContent(Buffer.from(text)));
    return collect(owntracks, messageOf(content, { decrypt: (_device, box) => openBox(key, box) }));
  }

  function lastOf<Value>(steps: Steps<Value>): Value {
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
    }
  }

  function boxed(text: string): string {
    return Buffer.from(encryptBox(key, Buffer.from(text))).toString("base64");
  }

  test("is a location as any other, and is kept without it", () => {
    const { points, raws } = readLong(JSON.stringify({ ...LOCATION, image: PHOTO }));
    expect(points).toMatchObject([{ latitude: 52.5, timestampMs: 1_770_000_000_000 }]);
    expect(raws).toEqual([LOCATION]);
  });

  test("may be encrypted, also where the app escapes the slashes of its Base64, as iOS does", () => {
    const data = boxed(JSON.stringify({ ...LOCATION, image: PHOTO }));
    for (const text of [data, data.replaceAll("/", "\\/")]) {
      const { points, raws } = readLong(`{"_type":"encrypted","data":"${text}"}`);
      expect(points).toMatchObject([{ latitude: 52.5, timestampMs: 1_770_000_000_000 }]);
      expect(raws).toEqual([LOCATION]);
    }
  });

  test("that nobody can open is kept as a whole, in a list too", () => {
    const message = { _type: "encrypted", data: PHOTO };
    for (const value of [message, [LOCATION, message]])
      expect(readLong(JSON.stringify(value)).refused).toEqual([{ reason: "undecryptable", raw: undefined }]);
  });
});

describe("by shape", () => {
  test.each([
    [true, LOCATION],
    [true, [LOCATION]],
    [true, { _type: "encrypted", data: "" }],
    [true, { ...LOCATION, topic: "owntracks/anna/pixel" }],
    [true, { ...LOCATION, topic: "owntracks/pixel", tid: "el" }],
    [false, { ...LOCATION, topic: "owntracks/pixel" }], // Overland's.
    [false, { lat: 52.5, lon: 13.4 }],
    [false, { _type: 5 }],
    [false, []],
    [false, null],
    [false, "location"],
  ])("%p: %p", (is, value) => {
    expect(owntracks.recognizes(value)).toBe(is);
    expect(owntracks.speaks(value)).toBe(is);
  });
});

describe("answers", () => {
  test("are an empty list, which both apps take for no news", () => {
    expect(owntracks.success).toEqual({ contentType: "application/json", body: "[]" });
  });
});

test("iOS is known by what it tells of itself: it deletes what is refused", () => {
  expect(deletesRefusedPoints({ "user-agent": "Owntracks-Android/gms/4205", "x-limit-d": "pixel" })).toBe(
    false,
  );
  expect(deletesRefusedPoints({ "user-agent": "OwnTracks/1 CFNetwork/1568", "x-limit-d": "4B1F" })).toBe(
    true,
  );
  expect(deletesRefusedPoints({ "x-limit-d": "4B1F" })).toBe(true);
  expect(deletesRefusedPoints({})).toBe(false);
});

test("no message makes the reading throw, and each is a point, refused or skipped", () => {
  const names = fc.constantFrom(
    ...[
      "_type",
      "lat",
      "lon",
      "tst",
      "acc",
      "vac",
      "alt",
      "vel",
      "cog",
      "batt",
      "bs",
      "conn",
      "m",
      "tid",
      "topic",
    ],
    ...["motionactivities", "data", "created_at", "_id", "__proto__", "toString"],
  );
  const types = fc.constantFrom("location", "encrypted", "transition", "dump", "__proto__");
  const values = fc.oneof(types, fc.double(), fc.string(), fc.constant("owntracks/a/b"), fc.jsonValue());
  const objects = fc
    .dictionary(names, values)
    .chain((members) => types.map((_type) => ({ ...members, _type })));
  const json = fc.oneof(objects, fc.array(fc.oneof(objects, fc.jsonValue())), fc.jsonValue());
  const contents: fc.Arbitrary<Content> = fc.oneof(
    json.map((value): Content => ({ kind: "json", value })),
    fc.string().map((text): Content => ({ kind: "text", text })),
    fc.constantFrom<Content>({ kind: "empty" }, { kind: "unreadable" }),
  );
  const topics = fc.option(fc.oneof(fc.string(), fc.constant("owntracks/anna/pixel")));
  const decrypted = fc.option(
    fc.oneof(
      json.map((value) => JSON.stringify(value) ?? ""),
      fc.string(),
    ),
  );
  fc.assert(
    fc.property(contents, topics, decrypted, (content, topic, clear) => {
      const message = messageOf(content, {
        topic,
        decrypt: () => inOneStep(() => (clear === null ? null : new TextEncoder().encode(clear))),
      });
      const { points, refused, skipped } = collect(owntracks, message);
      const isList = content.kind === "json" && Array.isArray(content.value) && content.value.length > 0;
      const isRead = topic === null || topic.replace(/^\//, "").split("/").length >= 3;
      const expected = isList && isRead ? (content.value as unknown[]).length : 1;
      expect(points.length + refused.length + skipped.length).toBe(expected);
    }),
    { numRuns: 2000 },
  );
});
