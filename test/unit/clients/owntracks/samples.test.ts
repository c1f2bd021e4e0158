import { describe, expect, test } from "bun:test";
import type { ClientMessage } from "../../../../src/clients/client.ts";
import { keyOf, openBox } from "../../../../src/clients/owntracks/encryption.ts";
import { owntracks } from "../../../../src/clients/owntracks/owntracks.ts";
import { collect, contentOf, messageOf } from "../../../support/clients/collected.ts";
import { sample } from "../../../support/clients/sample.ts";

/*
 * Goal: what the apps send is read as they mean it. Method: every sample message, to the points that it holds.
 */

function read(path: string, other: Partial<ClientMessage> = {}) {
  const { points, refused, skipped } = collect(owntracks, messageOf(contentOf(sample(path)), other));
  return { points, reasons: refused.map(({ reason }) => reason), skipped };
}

function withPhrase(phrase: string): Partial<ClientMessage> {
  return { decrypt: (_device, box) => openBox(keyOf(phrase), box) };
}

describe("a location of OwnTracks for Android", () => {
  test("has km/h, and knows its user and device by its topic", () => {
    expect(read("owntracks-http/android.json").points).toEqual([
      {
        device: "pixel7",
        user: "anna",
        timestampMs: 1_770_000_000_000,
        latitude: 52.520008,
        longitude: 13.404954,
        details: {
          horizontal_accuracy: 12,
          vertical_accuracy: 3,
          altitude: 34,
          speed: 13.056,
          bearing: 271,
          battery_level: 81,
          battery_status: "Not Charging",
          network_status: true,
          tracking_mode: "MOVE",
        },
      },
    ]);
  });

  test("leaves out what is 0: no accuracy, altitude, speed or bearing is known then", () => {
    expect(read("owntracks-http/android-zero-values-left-out.json").points).toEqual([
      {
        device: "pixel7",
        user: "anna",
        timestampMs: 1_770_000_060_000,
        latitude: 52.520011,
        longitude: 13.404957,
        details: {
          battery_level: 80,
          battery_status: "Not Charging",
          network_status: true,
          tracking_mode: "SIGNIFICANT",
        },
      },
    ]);
  });

  test("leaves out a longitude of 0 too", () => {
    expect(read("owntracks-http/android-longitude-zero.json").points).toEqual([
      {
        device: "pixel7",
        user: "anna",
        timestampMs: 1_770_000_060_000,
        latitude: 51.4779,
        longitude: 0,
        details: { horizontal_accuracy: 9, network_status: true, tracking_mode: "SIGNIFICANT" },
      },
    ]);
  });

  test("tells the system and the version by its User-Agent", () => {
    const headers = { "user-agent": "Owntracks-Android/gms/420510000" };
    const [point] = read("owntracks-http/android.json", { headers }).points;
    expect(point?.details).toMatchObject({ os: "android", app_version_code: "420510000" });
  });
});

describe("a location of OwnTracks for iOS", () => {
  test("has the activities, and was made minutes before it was sent", () => {
    expect(read("owntracks-http/ios.json").points).toEqual([
      {
        device: "iphone",
        user: "bea",
        timestampMs: 1_770_000_120_000,
        latitude: 52.520008,
        longitude: 13.404954,
        details: {
          horizontal_accuracy: 21,
          vertical_accuracy: 10,
          altitude: 5,
          speed: 1.389,
          bearing: 88,
          battery_level: 94,
          battery_status: "Not Charging",
          network_status: true,
          type: "MOVING",
          tracking_mode: "SIGNIFICANT",
        },
      },
    ]);
  });

  test("may bring a photo, which is no part of what is kept", () => {
    const message = messageOf(contentOf(sample("owntracks-http/ios-poi-with-image.json")));
    const { points, raws } = collect(owntracks, message);
    expect(points).toEqual([
      {
        device: "iphone",
        user: "bea",
        timestampMs: 1_770_000_180_000,
        latitude: 52.52,
        longitude: 13.405,
        details: {
          horizontal_accuracy: 5,
          vertical_accuracy: 4,
          altitude: 30,
          battery_level: 90,
          battery_status: "Charging",
          network_status: true,
          tracking_mode: "SIGNIFICANT",
        },
      },
    ]);
    expect(raws).toHaveLength(1);
    expect(raws[0]).toMatchObject({ poi: "Cafe" });
    expect(raws[0]).not.toHaveProperty("image");
  });
});

describe("samples of the Android app's own tests", () => {
  const AUSTRALIA = {
    device: "AA",
    user: null,
    timestampMs: 1_721_896_446_000,
    latitude: -25.762245,
    longitude: 126.074502,
    details: {
      horizontal_accuracy: 5,
      vertical_accuracy: 3,
      altitude: 84,
      speed: 79,
      bearing: 277,
      battery_level: 34,
      battery_status: "Not Charging",
      network_status: true,
      tracking_mode: "MOVE",
    },
  } as const;

  test.each(["location_beacon_trigger", "location_timer_trigger"])("%s", (name) => {
    // As a broker brings it; by HTTP the app would add its topic.
    const byBroker = read(`owntracks-android/${name}.json`, { topic: "owntracks/anna/pixel7" });
    const named = { ...AUSTRALIA, device: "pixel7", user: "anna" };
    expect(byBroker.points).toEqual([{ ...named, details: { ...AUSTRALIA.details, speed: 21.944 } }]);
    // Without any mark of the app it is somebody else's, who sends m/s.
    expect(read(`owntracks-android/${name}.json`).points).toEqual([AUSTRALIA]);
  });

  const HOLLAND = {
    device: "s5",
    user: null,
    timestampMs: 1_514_455_575_000,
    latitude: 52.3153748,
    longitude: 5.0408462,
    details: { horizontal_accuracy: 1600, bearing: 56, battery_level: 99, network_status: true },
  } as const;

  test("an altitude of 0 is none where its accuracy is none", () => {
    expect(read("owntracks-android/location_deserialize_extended.json").points).toEqual([
      { ...HOLLAND, details: { ...HOLLAND.details, battery_status: "Full" } },
    ]);
  });

  test("what was encrypted, in clear", () => {
    expect(read("owntracks-android/location_encrypted_decrypted.json").points).toEqual([
      { ...HOLLAND, details: { ...HOLLAND.details, speed: 2, battery_status: "Not Charging" } },
    ]);
  });

  test("a list of messages", () => {
    expect(read("owntracks-android/location_multiple_messages.json").points).toEqual([
      { ...HOLLAND, details: { ...HOLLAND.details, bearing: 45 } },
      {
        ...HOLLAND,
        timestampMs: 1_514_455_579_000,
        latitude: 12.3153748,
        longitude: 15.0408462,
        details: { ...HOLLAND.details, horizontal_accuracy: 95 },
      },
    ]);
  });

  test("a standing phone at Greenwich", () => {
    expect(read("owntracks-android/location_with_created_at.json").points).toEqual([
      {
        device: "aa",
        user: null,
        timestampMs: 1_709_037_003_000,
        latitude: 51,
        longitude: 0,
        details: {
          horizontal_accuracy: 5,
          altitude: 50,
          speed: 0,
          battery_level: 100,
          network_status: true,
          tracking_mode: "SIGNIFICANT",
        },
      },
    ]);
  });

  // Null Island, which the collector refuses.
  test.each([
    ["valid_location_message", "xx", null, 1_778_266_175_000, { speed: 0, battery_level: 98 }],
    ["valid_location_message_with_topic", null, null, 1_778_266_175_000, {}],
    ["invalid_location_message_missing_tid_and_topic", null, null, 1_778_266_175_000, {}],
    ["invalid_location_message_zero_timestamp", "xx", null, Number.NEGATIVE_INFINITY, {}],
  ])("%s", (name, device, user, timestampMs, details) => {
    expect(read(`owntracks-android/${name}.json`).points).toEqual([
      {
        device,
        user,
        timestampMs,
        latitude: 0,
        longitude: 0,
        details: { horizontal_accuracy: 15, altitude: 300, ...details },
      },
    ]);
  });

  test.each([
    ["location_empty", ["no_position"], []],
    ["unknown_message", ["unknown_shape"], []],
    ["card_message_with_face", [], ["card"]],
    ["card_message_with_tid", [], ["card"]],
    ["valid_card_message", [], ["card"]],
    ["cmd_invalid_action", [], ["cmd"]],
    ["cmd_report_location", [], ["cmd"]],
    ["cmd_set_configuration", [], ["cmd"]],
    ["cmd_set_waypoints", [], ["cmd"]],
    ["cmd_status", [], ["cmd"]],
    ["configuration_message", [], ["configuration"]],
    ["encrypted_message", ["undecryptable"], []],
    ["transition_message", [], ["transition"]],
    ["waypoint_message", [], ["waypoint"]],
  ])("%s is no position", (name, reasons, skipped) => {
    const found = read(`owntracks-android/${name}.json`);
    expect(found).toEqual({ points: [], reasons, skipped } as typeof found);
  });
});

describe("other messages", () => {
  test("are no positions, and nothing of them is kept", () => {
    const lines = sample("owntracks-http/not-locations.jsonl").trim().split("\n");
    const skipped = lines.map((line) => {
      const { points, refused, skipped } = collect(owntracks, messageOf(contentOf(line)));
      expect([points, refused]).toEqual([[], []]);
      return skipped;
    });
    expect(skipped).toEqual([
      ["transition"],
      ["waypoint"],
      ["waypoints"],
      ["status"],
      ["steps"],
      ["beacon"],
      ["card"],
      ["dump"],
      ["request"],
      ["lwt"],
      ["cmd"],
    ]);
  });

  test("of a kind that nobody knows are counted under one name", () => {
    const { skipped } = collect(owntracks, messageOf(contentOf('[{"_type":"made up"},{"_type":"too"}]')));
    expect(skipped).toEqual(["other message", "other message"]);
  });

  test("our own answer with friends is a location of one, should it come back", () => {
    const { points, skipped } = read("owntracks-http/friends-answer.json");
    expect(points).toHaveLength(1);
    expect(points[0]).toMatchObject({ device: "iphone", user: "bea", details: { speed: 1.111 } });
    expect(skipped).toEqual(["card"]);
  });
});

describe("the CSV line of small trackers", () => {
  test("is a location", () => {
    expect(read("owntracks-http/csv-payload.txt").points).toEqual([
      {
        device: "X0",
        user: null,
        timestampMs: 1_412_056_746_000,
        latitude: 30.365854,
        longitude: 7.575769,
        details: { speed: 1.111, bearing: 260, altitude: 70 },
      },
    ]);
  });

  test("of another form is a shape that we don't know", () => {
    for (const line of [
      "X0,542A46AA,k,30365854,7575769,26,4,7,5",
      "lat=52.5&lon=13.4",
      "X0,zz,k,1,2,3,4,5,6,7",
    ]) {
      const { points, refused } = collect(owntracks, messageOf(contentOf(line)));
      expect(points).toEqual([]);
      expect(refused).toEqual([{ reason: "unknown_shape", raw: undefined }]);
    }
  });
});

describe("an encrypted message", () => {
  test("is opened by its phrase: the known answer of the Android app's own test", () => {
    const { points } = read("owntracks-http/encrypted-key-123.json", withPhrase("123"));
    expect(points).toHaveLength(1);
    expect(points[0]).toMatchObject({
      timestampMs: 1_754_215_100_000,
      latitude: 50.1182933,
      longitude: -5.5407733,
      details: { horizontal_accuracy: 5 },
    });
  });

  test("is a message as any other inside, topic included", () => {
    const asked: (string | null)[] = [];
    const { points } = read("owntracks-http/encrypted-key-s3cr1t.json", {
      headers: { "x-limit-u": "anna", "x-limit-d": "pixel" },
      decrypt: (device, box) => {
        asked.push(device);
        return openBox(keyOf("s3cr1t"), box);
      },
    });
    expect(asked).toEqual(["anna:pixel"]);
    expect(points).toHaveLength(1);
    expect(points[0]).toMatchObject({
      device: "pixel",
      user: "anna",
      latitude: 52.52,
      longitude: 13.405,
      details: { speed: 10 },
    });
  });

  test("is refused where no phrase opens it", () => {
    for (const name of ["encrypted-key-123", "encrypted-key-s3cr1t"]) {
      const { points, reasons } = read(`owntracks-http/${name}.json`, withPhrase("wrong"));
      expect(points).toEqual([]);
      expect(reasons).toEqual(["undecryptable"]);
    }
  });
});
