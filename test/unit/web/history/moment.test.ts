import { describe, expect, test } from "bun:test";
import type { History } from "../../../../src/web/history/history.ts";
import { NO_ENDS } from "../../../../src/web/history/history.ts";
import { Moment, type MomentMark, timeNear } from "../../../../src/web/history/moment.ts";
import { type LocalDay, spanNamed } from "../../../../src/web/time/local-day.ts";
import { trackOf } from "./tracks.ts";

const track = () => trackOf([0, 100, 200, 2000], { gaps: [3] });

describe("the time near a place", () => {
  test("is interpolated between positions", () => {
    expect(timeNear(track(), { latitude: 0.0001, longitude: 0.0005 }, 20)).toBe(50_000);
    expect(timeNear(track(), { latitude: 0, longitude: 0.001 }, 20)).toBe(100_000);
  });

  test("is that of the position at an end, or beyond a gap", () => {
    expect(timeNear(track(), { latitude: 0, longitude: -0.0001 }, 20)).toBe(0);
    expect(timeNear(track(), { latitude: 0, longitude: 0.003 }, 20)).toBe(2_000_000);
  });

  test("is missing further away, and over a gap", () => {
    expect(timeNear(track(), { latitude: 0.001, longitude: 0.0005 }, 20)).toBeNull();
    expect(timeNear(track(), { latitude: 0, longitude: 0.0025 }, 20)).toBeNull();
    expect(timeNear(trackOf([]), { latitude: 0, longitude: 0 }, 20)).toBeNull();
  });
});

function historyOf(span: "day" | "week" = "day"): History {
  return {
    ...{ deviceId: "bus", day: "2026-11-22" as LocalDay, zone: "UTC", span: spanNamed(span), isView: false },
    ...{ range: { startMs: 0, endMs: 1e7 }, reports: 4, isIncomplete: false, ends: NO_ENDS, stops: null },
    track: track(),
  };
}

function create(span?: "day" | "week") {
  const marks: (MomentMark | null)[] = [];
  let changes = 0;
  const moment = new Moment({
    map: { setMoment: (mark) => marks.push(mark) },
    textAt: (ms, zone) => `${ms} ${zone}`,
    changed: () => changes++,
  });
  moment.use(historyOf(span));
  return { moment, marks, changes: () => changes };
}

describe("the moment", () => {
  test("is that of the pointer, on the line as on the plot, and leaves with it", () => {
    const { moment, marks, changes } = create();
    moment.pointNear({ latitude: 0, longitude: 0.0005 }, 20);
    expect(moment.pointedMs).toBe(50_000);
    moment.point(150_000);
    moment.point(150_000);
    moment.pointNear(null, 20);
    expect(marks).toEqual([
      { latitude: 0, longitude: 0.0005, text: "50000 UTC" },
      { latitude: 0, longitude: 0.0015, text: "150000 UTC" },
      null,
    ]);
    expect([moment.pointedMs, changes()]).toEqual([null, 3]);
  });

  test("is that of a standing clock while nothing is pointed at", () => {
    const { moment, marks } = create();
    moment.stand(100_000);
    moment.point(0);
    moment.point(null);
    moment.stand(null);
    expect(marks.map((mark) => mark?.longitude ?? null)).toEqual([0.001, 0, 0.001, null]);
  });

  test("is not on the simplified line of several days", () => {
    const { moment, marks } = create("week");
    moment.pointNear({ latitude: 0, longitude: 0 }, 20);
    expect(moment.pointedMs).toBeNull();
    moment.point(100_000);
    expect([moment.pointedMs, marks.length]).toEqual([100_000, 0]);
  });
});
