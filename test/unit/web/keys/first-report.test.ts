import { expect, test } from "bun:test";
import { REFUSAL_REASONS } from "../../../../src/clients/point.ts";
import { ApiError } from "../../../../src/web/api/api-error.ts";
import {
  FirstReport,
  missingText,
  type PhoneRequest,
  placeText,
  refusalText,
  speedAdvice,
  understoodText,
} from "../../../../src/web/keys/first-report.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";
import { turns } from "../../../support/turns.ts";

const SINCE = 1000;
const KEY = { id: "k_1", device_id: "a/b", created: SINCE };

function request(received: number) {
  const newest = { device_id: "a/b", latitude: 51.5, longitude: -0.12, speed: 3 };
  return {
    received,
    client: "owntracks",
    taken: 1,
    newest,
    refused_count: 0,
    refused: [],
    left_out: [],
    skipped: [],
  };
}

/** A server whose next answers are given, and a table with or without the device. */
function setUp(answers: (unknown[] | Error)[]) {
  const asked: string[] = [];
  const rows = new Map<string, number>();
  const devices = {
    timestampMs: [5],
    latitude: [1.5],
    longitude: [2.5],
    rowOf: (id: string) => rows.get(id),
  };
  const time = new VirtualTime();
  let changes = 0;
  const report = new FirstReport({
    api: {
      get<Body>(path: string): Promise<Body> {
        asked.push(path);
        const answer = answers.shift() ?? [];
        return answer instanceof Error
          ? Promise.reject(answer)
          : Promise.resolve({ requests: answer } as Body);
      },
    },
    devices,
    changed: () => changes++,
    timers: time,
  });
  return { time, report, asked, rows, devices, changes: () => changes };
}

test("asks for the device until it has reported, and says what was understood", async () => {
  const { time, report, asked } = setUp([[], [request(SINCE + 1)]]);
  report.begin(KEY);
  await turns();
  expect([report.arrival, report.fault]).toEqual([null, null]);
  await time.pass(1000);
  expect(report.arrival).toMatchObject({
    latitude: 51.5,
    longitude: -0.12,
    request: { received: SINCE + 1 },
  });
  expect(asked).toEqual(Array(2).fill("/map/keys/k_1/requests"));
  report.end();
});

test("what came before the key was made is not its first report", async () => {
  const { report } = setUp([[request(SINCE - 1)]]);
  report.begin(KEY);
  await turns();
  expect(report.arrival).toBeNull();
  report.end();
});

test("a device whose request the server passed over is known by the live table", async () => {
  const { report, rows } = setUp([[]]);
  report.begin(KEY);
  rows.set("a/b", 0);
  await turns();
  expect(report.arrival).toMatchObject({ latitude: 1.5, longitude: 2.5, request: null });
  report.end();
});

test("one that was in the table before has to move on in it", async () => {
  const { time, report, rows, devices } = setUp([[], []]);
  rows.set("a/b", 0);
  report.begin(KEY);
  await turns();
  expect(report.arrival).toBeNull();
  devices.timestampMs[0] = 6;
  await time.pass(1000);
  expect(report.arrival).not.toBeNull();
  report.end();
});

test("what else the server says is shown, and it is asked again", async () => {
  const { time, report, asked } = setUp([new ApiError(503, "starting")]);
  report.begin(KEY);
  await turns();
  expect(report.fault).toBe("Starting.");
  await time.pass(1000);
  expect([report.fault, asked.length]).toEqual([null, 2]);
  report.end();
});

test("ended, it asks no more", async () => {
  const { time, report, asked, changes } = setUp([]);
  report.begin(KEY);
  await turns();
  report.end();
  const before = changes();
  await time.pass(10_000);
  expect([asked.length, changes()]).toEqual([1, before]);
});

const REQUEST: PhoneRequest = {
  received: 1,
  client: "owntracks",
  taken: 0,
  refused_count: 0,
  refused: [],
  left_out: [],
  timed_by_arrival: 0,
  skipped: [],
};

test("what was understood is said with its units", () => {
  const report = { latitude: 51.5, longitude: -0.12, speed: 3.04, battery_level: 81 };
  expect(understoodText(report, "metric")).toBe("speed 11 km/h, battery 81 %");
  expect(understoodText(report, "miles")).toBe("speed 7 mph, battery 81 %");
  expect(speedAdvice(report)).toContain("?speed_unit=kmh");
  expect(speedAdvice({})).toBeNull();
  expect(placeText(report.latitude, report.longitude)).toBe("51.50, -0.12");
  const more = { ...report, speed: 0, bearing: 12, altitude: 9.96, horizontal_accuracy: 5, type: "MOVING" };
  expect(understoodText(more, "metric")).toBe(
    "speed 0 km/h, heading 12°, altitude 10 m, within 5 m, battery 81 %, moving",
  );
  expect(understoodText({ latitude: 1, longitude: 2 }, "metric")).toBe("position and time only");
});

test("every reason for a refusal has its words", () => {
  for (const reason of [...REFUSAL_REASONS, "invalid"]) {
    const text = refusalText({ ...REQUEST, refused_count: 1, refused: [{ reason }] });
    expect(text).toStartWith("A point could not be used: ");
    expect(text).not.toEndWith(`: ${reason}.`);
  }
});

test("what was refused is said only where nothing was taken", () => {
  const refused = [{ reason: "future", detail: "2 h ahead" }];
  expect(refusalText({ ...REQUEST, refused_count: 2, refused })).toBe(
    "2 points could not be used: its time is in the future; set the phone's clock (2 h ahead).",
  );
  expect(refusalText({ ...REQUEST, taken: 1, refused_count: 2, refused })).toBeNull();
  expect(refusalText({ ...REQUEST, skipped: [{ what: "visit", count: 1 }] })).toContain("visit");
  expect(refusalText(REQUEST)).toBeNull();
});

test("fields that were left out are named", () => {
  expect(missingText(REQUEST)).toBeNull();
  const left_out = [
    { field: "speed", reason: "unreadable", count: 2 },
    { field: "altitude", reason: "out_of_range", count: 1 },
  ] as const;
  expect(missingText({ ...REQUEST, left_out })).toBe(
    "Missing: speed (can't be read), altitude (out of range).",
  );
  expect(missingText({ ...REQUEST, timed_by_arrival: 1 })).toBe(
    "It had no time, so the server used the time of its arrival.",
  );
});
