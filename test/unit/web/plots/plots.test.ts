import { describe, expect, mock, test } from "bun:test";
import { ApiError } from "../../../../src/web/api/api-error.ts";
import type { Units } from "../../../../src/web/geo/units.ts";
import type { History } from "../../../../src/web/history/history.ts";
import { NO_ENDS } from "../../../../src/web/history/history.ts";
import { Plots } from "../../../../src/web/plots/plots.ts";
import { type LocalDay, spanNamed } from "../../../../src/web/time/local-day.ts";
import { turns } from "../../../support/turns.ts";
import { FakeServer } from "../device/fake-server.ts";
import { trackOf } from "../history/tracks.ts";

// What draws is an element of the page, and there is none here.
let drawing: () => Promise<void> = async () => {};
mock.module("../../../../src/web/plots/time-plot.ts", () => ({ defineTimePlot: () => drawing() }));

function historyOf({
  deviceId = "bus",
  span = "day" as "day" | "week" | "year",
  isView = false,
} = {}): History {
  return {
    ...{ deviceId, day: "2026-11-22" as LocalDay, zone: "UTC", span: spanNamed(span), isView },
    ...{ range: { startMs: 0, endMs: 1e6 }, reports: 3, isIncomplete: false, ends: NO_ENDS, stops: null },
    track: trackOf([0, 60, 120]),
  };
}

const NONE = [null, null];

function seriesOf({
  speed = NONE as readonly (number | null)[],
  battery = NONE as readonly (number | null)[],
} = {}) {
  return {
    timestamp: [0, 120_000],
    ...{ speed_min: speed, speed_max: speed, speed_last: speed },
    ...{ altitude_min: NONE, altitude_max: NONE, altitude_last: NONE },
    ...{ battery_level_min: battery, battery_level_max: battery, battery_level_last: battery },
  };
}

function create() {
  const server = new FakeServer();
  const settings = { units: "metric" as Units };
  const plots = new Plots(server, settings, () => {});
  const answer = async (series: ReturnType<typeof seriesOf>) => {
    server.last("/series").answer(series);
    await turns();
  };
  const names = () => plots.all.map(({ kind }) => kind.name);
  return { server, settings, plots, answer, names };
}

describe("plots", () => {
  test("are asked for from the first position to the last", async () => {
    const { server, plots, answer, names } = create();
    plots.use(historyOf());
    expect(server.last("/series").query).toMatchObject({ start: 0, end: 120_001 });
    expect(plots.isLoading).toBe(true);
    await answer(seriesOf({ speed: [10, 20] }));
    expect([plots.isLoading, names()]).toEqual([false, ["Speed"]]);
    expect(plots.shown).toMatchObject({ isFromPositions: false, series: { last: [36, 72] } });
  });

  test("color the line of a day and of a week, a week by as many values as there are", async () => {
    const { server, plots, answer } = create();
    plots.use(historyOf());
    expect([server.last("/series").query.buckets, plots.lineSpeed]).toEqual([1200, null]);
    await answer(seriesOf({ speed: [10, 20] }));
    expect(plots.lineSpeed).toBe(plots.shown);
    plots.use(historyOf({ span: "week" }));
    expect([server.last("/series").query.buckets, plots.lineSpeed]).toEqual([4000, null]);
    await answer(seriesOf({ speed: [10, 20] }));
    expect(plots.lineSpeed).toBe(plots.shown);
    plots.use(historyOf({ span: "year" }));
    await answer(seriesOf({ speed: [10, 20] }));
    expect([server.last("/series").query.buckets, plots.lineSpeed]).toEqual([1200, null]);
  });

  test("have the units of the settings, at once", async () => {
    const { server, settings, plots, answer } = create();
    plots.rescale();
    plots.use(historyOf());
    await answer(seriesOf({ speed: [10, 20] }));
    const requests = server.asked.length;
    settings.units = "miles";
    plots.rescale();
    expect(plots.shown).toMatchObject({ kind: { unit: "mph" } });
    expect(plots.shown!.series.last.map((value) => Math.round(value!))).toEqual([22, 45]);
    expect(server.asked.length).toBe(requests);
  });

  test("tell the speed between positions where none was reported, of whole lines alone", async () => {
    const { plots, answer, names } = create();
    plots.use(historyOf());
    await answer(seriesOf());
    expect(plots.shown).toMatchObject({ isFromPositions: true });
    plots.use(historyOf({ span: "week" }));
    await answer(seriesOf());
    expect([names(), plots.shown]).toEqual([[], null]);
  });

  test("keep the choice for devices that have it", async () => {
    const { plots, answer } = create();
    plots.use(historyOf());
    await answer(seriesOf({ battery: [80, 79] }));
    plots.choose("battery_level");
    plots.use(historyOf({ deviceId: "tram" }));
    expect(plots.shown).toBeNull();
    await answer(seriesOf({ speed: [1, 2] }));
    expect(plots.shown?.kind.field).toBe("speed");
    plots.use(historyOf({ deviceId: "phone" }));
    await answer(seriesOf({ battery: [80, 79] }));
    expect(plots.shown?.kind.field).toBe("battery_level");
  });

  test("of the day before stay until those of the next are there", async () => {
    const { plots, answer, names } = create();
    plots.use(historyOf());
    await answer(seriesOf({ battery: [80, 79] }));
    plots.use(historyOf());
    expect([plots.isLoading, names()]).toEqual([true, ["Speed", "Battery"]]);
  });

  test("of another device are given up", async () => {
    const { server, plots } = create();
    plots.use(historyOf());
    const asked = server.last("/series");
    plots.use(null);
    await turns();
    expect([asked.signal?.aborted, plots.fault, plots.isLoading]).toEqual([true, null, false]);
  });

  test("of a device before don't take the place of the next one's, however late their drawing comes", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    drawing = () => promise;
    const { plots, answer } = create();
    plots.use(historyOf());
    await answer(seriesOf({ battery: [80, 79] }));
    plots.use(historyOf({ deviceId: "tram" }));
    resolve();
    await turns();
    drawing = async () => {};
    expect([plots.isLoading, plots.all]).toEqual([true, []]);
  });

  test("are drawn once the connection is there where what draws them could not be loaded", async () => {
    drawing = async () => {
      throw new ApiError(0, "no network");
    };
    const { server, plots, answer, names } = create();
    plots.use(historyOf());
    await answer(seriesOf());
    expect(plots.fault).toBe("No network. Trying again…");
    drawing = async () => {};
    server.retries.wake();
    await turns();
    await answer(seriesOf());
    expect([plots.fault, names()]).toEqual([null, ["Speed"]]);
  });

  test("say why there are none", async () => {
    const { server, plots } = create();
    plots.use(historyOf());
    await server.refuse("/series");
    expect([plots.fault, plots.isLoading]).toEqual(["Too many days.", false]);
  });

  test("are not for who came by a share link", () => {
    const { server, plots } = create();
    plots.use(historyOf({ isView: true }));
    expect([server.asked.length, plots.isLoading]).toEqual([0, false]);
  });
});
