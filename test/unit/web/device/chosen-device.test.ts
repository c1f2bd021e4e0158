import { afterAll, describe, expect, setSystemTime, test } from "bun:test";
import { ChosenDevice } from "../../../../src/web/device/chosen-device.ts";
import { DeviceTable } from "../../../../src/web/devices/device-table.ts";
import { areOfSame, type History } from "../../../../src/web/history/history.ts";
import {
  type LocalDay,
  RECENT,
  rangeOf,
  spanNamed,
  VISITOR_SPANS,
} from "../../../../src/web/time/local-day.ts";
import { turns } from "../../../support/turns.ts";
import { FakeServer } from "./fake-server.ts";

const NOW = Date.UTC(2026, 10, 22, 12) / 1000;
const TODAY = "2026-11-22" as LocalDay;
const YESTERDAY = "2026-11-21" as LocalDay;

afterAll(() => {
  setSystemTime();
});

function create({ isView = false } = {}) {
  setSystemTime(new Date(NOW * 1000));
  const server = new FakeServer();
  const devices = new DeviceTable();
  const zones = { zone: "UTC" };
  const shown: (History | null)[] = [];
  const refreshes: boolean[] = [];
  const asks: (string | null)[] = [];
  const chosen = new ChosenDevice({
    ...{ api: server, zones, devices },
    viewOf: () => (isView ? { not_before: 0 } : null),
    onChoose: () => {},
    onAsk: () => asks.push(chosen.id),
    onHistory: (history, isRefresh) => {
      shown.push(history);
      refreshes.push(isRefresh);
    },
    changed: () => {},
  });
  const report = (second: number) =>
    devices.update([{ device_id: "bus", timestamp: second * 1000, latitude: 0, longitude: 0.005, speed: 7 }]);
  return { server, devices, zones, shown, refreshes, asks, chosen, report };
}

/** With its day there, of two positions. */
async function createReady() {
  const parts = create();
  parts.chosen.choose("bus");
  await parts.server.answerTrack([NOW - 20, NOW - 10]);
  await parts.server.answerStops();
  await parts.server.answerCurrent(NOW - 10);
  return parts;
}

describe("a device that is chosen", () => {
  test("is asked for with its day: all positions, stops with their places", async () => {
    const { server, chosen } = create();
    chosen.choose("bus 1/2");
    const { startMs, endMs } = rangeOf(TODAY, "UTC");
    expect(server.asked.map(({ path }) => path)).toEqual([
      "/api/v1/devices/bus%201%2F2/track",
      "/api/v1/devices/bus%201%2F2/stops",
      "/api/v1/devices/bus%201%2F2/locations/current",
    ]);
    expect(server.last("/track").query).toMatchObject({ start: startMs, end: endMs, tolerance_meters: 0 });
    expect(server.last("/stops").query).toMatchObject({ start: startMs, end: endMs, places: true });
    expect(chosen.isLoading).toBe(true);
  });

  test("is shown once both are there", async () => {
    const { server, chosen } = create();
    chosen.choose("bus");
    await server.answerTrack([NOW]);
    expect(chosen.history).toBeNull();
    await server.answerStops();
    expect([chosen.history?.reports, chosen.isLoading]).toEqual([1, false]);
  });

  test("gives up what was asked about another, whose answer is not shown", async () => {
    const { server, chosen } = create();
    chosen.choose("bus");
    const [before] = server.open("/track");
    chosen.choose("tram");
    expect(before!.signal?.aborted).toBe(true);
    expect(chosen.history).toBeNull();
    await server.answerTrack([NOW, NOW + 1]);
    await server.answerStops();
    expect([chosen.history?.deviceId, chosen.fault]).toEqual(["tram", null]);
  });

  test("is gone with its day when none is chosen", async () => {
    const { chosen, shown } = await createReady();
    chosen.choose(null);
    expect([chosen.id, chosen.current, chosen.history, shown.at(-1)]).toEqual([null, null, null, null]);
  });

  test("is not shown with what came of another in the turn in which it was chosen", async () => {
    const { server, chosen } = create();
    chosen.choose("bus");
    const answered = server.answerCurrent(NOW - 10);
    chosen.choose("tram");
    await answered;
    expect(chosen.current).toBeNull();
  });

  test("says what went wrong, and tries again", async () => {
    const { server, chosen } = create();
    chosen.choose("bus");
    await server.refuse("/track");
    expect([chosen.fault, chosen.isLoading, chosen.history]).toEqual(["Too many days.", false, null]);
    chosen.reload();
    expect([chosen.fault, chosen.isLoading]).toEqual([null, true]);
  });

  test("that could not be asked for is there once the connection is, whatever was missing", async () => {
    const { server, chosen } = create();
    chosen.choose("bus");
    await server.drop("/track");
    await server.drop("/current");
    expect([chosen.fault, chosen.isLoading]).toEqual(["The server answered 502. Trying again…", true]);
    expect(server.asked).toHaveLength(3);
    server.retries.wake();
    await turns();
    await server.answerCurrent(NOW - 10);
    await server.answerTrack([NOW - 20, NOW - 10]);
    await server.answerStops();
    expect([chosen.fault, chosen.isLoading, chosen.history?.track.count]).toEqual([null, false, 2]);
  });

  test("is asked for nothing but its track where a share link shows it", async () => {
    const { server, chosen } = create({ isView: true });
    chosen.choose("bus");
    expect(server.open("/stops")).toHaveLength(0);
    await server.answerTrack([NOW]);
    expect(chosen.history?.stops).toBeNull();
  });
});

describe("the day", () => {
  test("is today until another is chosen, and follows midnight", () => {
    const { chosen } = create();
    expect([chosen.day, chosen.isToday]).toEqual([TODAY, true]);
    setSystemTime(new Date((NOW + 86_400) * 1000));
    expect(chosen.day).toBe("2026-11-23" as LocalDay);
    setSystemTime(new Date(NOW * 1000));
  });

  test("is another once midnight has passed", async () => {
    const { server, chosen } = await createReady();
    setSystemTime(new Date((NOW + 86_400) * 1000));
    chosen.refresh((NOW + 86_400) * 1000);
    expect(server.last("/track").query.start).toBe(Date.UTC(2026, 10, 23));
  });

  test("is asked for by whoever chooses a device or other days, and not where time or a zone makes it another", async () => {
    const { asks, chosen, zones } = await createReady();
    expect(asks).toEqual(["bus"]);
    chosen.look(YESTERDAY);
    chosen.move(-1);
    expect(asks).toHaveLength(3);
    zones.zone = "Asia/Tokyo";
    chosen.reload();
    setSystemTime(new Date((NOW + 86_400) * 1000));
    chosen.refresh((NOW + 86_400) * 1000);
    chosen.choose(null);
    expect(asks).toHaveLength(3);
  });

  describe("without reports today", () => {
    const OLD = NOW - 10 * 86_400;
    const OLD_DAY = "2026-11-12" as LocalDay;

    test("is the last one with reports, at once where the device is known, and the address has none", () => {
      const { server, chosen, report } = create();
      report(OLD);
      chosen.choose("bus");
      expect([chosen.day, chosen.requestedDay, chosen.isToday]).toEqual([OLD_DAY, null, false]);
      expect(server.open("/track").map(({ query }) => query.start)).toEqual([Date.UTC(2026, 10, 12)]);
    });

    test("is the last one with reports once both answers are there, in either order", async () => {
      for (const isCurrentFirst of [true, false]) {
        const { server, chosen } = create();
        chosen.choose("bus");
        if (isCurrentFirst) await server.answerCurrent(OLD);
        if (!isCurrentFirst) {
          await server.answerTrack([]);
          await server.answerStops();
          await server.answerCurrent(OLD);
        }
        expect(chosen.day).toBe(OLD_DAY);
        await server.answerTrack([OLD]);
        await server.answerStops();
        expect([chosen.history?.track.count, chosen.isLoading]).toEqual([1, false]);
      }
    });

    test("stays today for who asks for today, and where a report came today", async () => {
      const { server, chosen, report } = create();
      report(OLD);
      chosen.choose("bus");
      chosen.look(TODAY);
      await server.answerCurrent(OLD);
      await server.answerTrack([]);
      await server.answerStops();
      expect([chosen.day, chosen.history?.track.count]).toEqual([TODAY, 0]);
      chosen.look(null); // As the address says.
      expect(chosen.day).toBe(TODAY);
      await server.answerCurrent(OLD);
      expect(chosen.day).toBe(OLD_DAY);
      const other = create();
      other.report(NOW - 5);
      other.chosen.choose("bus");
      expect(other.chosen.day).toBe(TODAY);
    });

    test("of a week that has some is the week up to today", () => {
      const { chosen, report } = create();
      report(NOW - 3 * 86_400);
      chosen.look(null, spanNamed("week"));
      chosen.choose("bus");
      expect(chosen.isToday).toBe(true);
      chosen.choose(null);
      chosen.look(null, spanNamed("day"));
      chosen.choose("bus");
      expect(chosen.day).toBe("2026-11-19" as LocalDay);
    });

    test("is the last day of another zone where that is chosen", () => {
      const { chosen, zones, report } = create();
      report(Date.UTC(2026, 10, 12, 20) / 1000);
      chosen.choose("bus");
      zones.zone = "Asia/Tokyo";
      chosen.reload();
      expect(chosen.day).toBe("2026-11-13" as LocalDay);
    });
  });

  test("stays the same in another zone, of which it is another stretch of time", async () => {
    const { server, chosen, zones } = await createReady();
    chosen.look(YESTERDAY);
    zones.zone = "Asia/Tokyo";
    chosen.reload();
    expect(chosen.day).toBe(YESTERDAY);
    expect(server.last("/track").query.start).toBe(Date.UTC(2026, 10, 20, 15));
    expect(chosen.history?.zone).toBe("UTC"); // Until the other is there.
    await server.answerTrack([]);
    await server.answerStops();
    expect(chosen.history?.zone).toBe("Asia/Tokyo");
  });

  test("goes back and on by as many days as are looked at, and never past today", async () => {
    const { chosen } = await createReady();
    chosen.move(-1);
    expect(chosen.day).toBe(YESTERDAY);
    chosen.look(TODAY, spanNamed("week"));
    chosen.move(-1);
    expect(chosen.day).toBe("2026-11-15" as LocalDay);
    chosen.move(2);
    expect([chosen.day, chosen.isToday]).toEqual([TODAY, true]);
  });

  test("is nobody's while no device is chosen, and stays as it is", () => {
    const { chosen } = create();
    chosen.move(-1);
    expect(chosen.day).toBe(TODAY);
  });

  test("shows the day before until the next is there, or fails", async () => {
    const { server, chosen } = await createReady();
    chosen.move(-1);
    expect([chosen.history?.day, chosen.isLoading]).toEqual([TODAY, true]);
    await server.refuse("/stops");
    expect([chosen.history, chosen.fault]).toEqual([null, "Too many days."]);
  });

  test("of a year comes coarse and without stops", async () => {
    const { server, chosen } = await createReady();
    chosen.look(TODAY, spanNamed("year"));
    const { query } = server.last("/track");
    expect(query.tolerance_meters).toBeGreaterThan(100);
    expect(Number(query.end) - Number(query.start)).toBe(365 * 86_400_000);
    expect(server.open("/stops")).toHaveLength(0);
  });
});

describe("the trail of a visit", () => {
  const MINUTES = 60;

  test("is offered to visitors alone, before whole days", () => {
    expect(create({ isView: true }).chosen.spans).toBe(VISITOR_SPANS);
    expect(create().chosen.spans).not.toContain(RECENT);
  });

  test("has the half hour before now, moves on with each reload, and stays the same trail", async () => {
    const { server, chosen, shown, report } = create({ isView: true });
    report(NOW - 5);
    chosen.look(null, RECENT);
    chosen.choose("bus");
    const { endMs } = rangeOf(TODAY, "UTC");
    expect(server.last("/track").query).toMatchObject({ start: (NOW - 5 - 30 * MINUTES) * 1000, end: endMs });
    expect(server.open("/stops")).toHaveLength(0);
    await server.answerTrack([NOW - 20, NOW - 5]);
    const before = chosen.history;
    setSystemTime(new Date((NOW + 10 * MINUTES) * 1000));
    report(NOW + 10 * MINUTES);
    chosen.reload();
    expect(server.last("/track").query.start).toBe((NOW - 20 * MINUTES) * 1000);
    await server.answerTrack([NOW, NOW + 10 * MINUTES]);
    expect(areOfSame(before, chosen.history)).toBe(true);
    expect(shown.at(-1)).toBe(chosen.history);
  });

  test("leads to the last report of a device that is silent, on the day of that report", () => {
    const { server, chosen, report } = create({ isView: true });
    const last = NOW - 50 * 60 * MINUTES;
    report(last);
    chosen.look(null, RECENT);
    chosen.choose("bus");
    const { endMs } = rangeOf("2026-11-20" as LocalDay, "UTC");
    expect(server.last("/track").query).toMatchObject({ start: (last - 30 * MINUTES) * 1000, end: endMs });
  });

  test("gives way to a whole day, which is another line", async () => {
    const { chosen, server } = create({ isView: true });
    chosen.look(null, RECENT);
    chosen.choose("bus");
    await server.answerTrack([NOW]);
    const trail = chosen.history;
    chosen.look(YESTERDAY);
    expect([chosen.span.name, chosen.day]).toEqual(["day", YESTERDAY]);
    chosen.look(null, spanNamed("day"));
    await server.answerTrack([NOW]);
    expect(areOfSame(trail, chosen.history)).toBe(false);
  });
});

describe("a line that grows", () => {
  test("takes reports of its device as they come", async () => {
    const { chosen, shown, report } = await createReady();
    report(NOW);
    expect(chosen.history?.track.count).toBe(3);
    expect(shown.at(-1)).toBe(chosen.history);
    expect(chosen.current).toMatchObject({ timestamp: NOW * 1000, speed: 7, battery_level: 81 });
    report(NOW);
    expect(chosen.history?.track.count).toBe(3);
  });

  test("takes none of today while another day is looked at", async () => {
    const { server, chosen, report } = await createReady();
    chosen.look(YESTERDAY);
    await server.answerTrack([NOW - 86_400]);
    await server.answerStops();
    report(NOW);
    expect([chosen.history?.track.count, chosen.current?.timestamp]).toEqual([1, NOW * 1000]);
  });

  test("takes what came while it was asked for", async () => {
    const { server, chosen, devices } = create();
    chosen.choose("bus");
    devices.update([{ device_id: "bus", timestamp: NOW * 1000, latitude: 0, longitude: 0.002 }]);
    await server.answerCurrent(NOW - 10);
    await server.answerTrack([NOW - 20, NOW - 10]);
    await server.answerStops();
    expect(chosen.history?.track.count).toBe(3);
  });

  test("is asked for again after a while, without a sign of it and without harm where that fails", async () => {
    const { server, chosen, report } = await createReady();
    const before = chosen.history;
    report(NOW + 1);
    chosen.refresh((NOW + 5) * 1000);
    expect(server.open("/track")).toHaveLength(1);
    setSystemTime(new Date((NOW + 60) * 1000));
    chosen.refresh((NOW + 60) * 1000);
    chosen.refresh((NOW + 61) * 1000);
    expect([server.open("/track").length, chosen.isLoading, chosen.history]).toEqual([2, false, before]);
    await server.refuse("/track");
    expect([chosen.history, chosen.fault]).toEqual([before, null]);
    setSystemTime(new Date((NOW + 120) * 1000));
    report(NOW + 100);
    chosen.refresh((NOW + 120) * 1000);
    await server.answerTrack([NOW - 20, NOW - 10, NOW - 5, NOW + 1]);
    await server.answerStops();
    expect(chosen.history?.track.timestampMs.map((ms) => ms / 1000 - NOW)).toEqual([-20, -10, -5, 1, 100]);
  });

  test("is a refresh if the device has reported, and none if everything is loaded again", async () => {
    const { server, chosen, refreshes, report } = await createReady();
    expect(refreshes).toEqual([false, false]); // None, and that of the chosen device.
    report(NOW + 1);
    setSystemTime(new Date((NOW + 60) * 1000));
    chosen.refresh((NOW + 60) * 1000);
    await server.answerTrack([NOW - 20, NOW - 10, NOW + 1]);
    await server.answerStops();
    expect(refreshes.slice(2)).toEqual([true, true]); // It grows, and is read again.
    chosen.reload();
    await server.answerTrack([NOW - 20, NOW + 1]);
    await server.answerStops();
    expect(refreshes.slice(4)).toEqual([false]);
  });

  test("that could not be asked for again stays, and grows once the connection is there", async () => {
    const { server, chosen, report } = await createReady();
    report(NOW + 1);
    setSystemTime(new Date((NOW + 60) * 1000));
    chosen.refresh((NOW + 60) * 1000);
    await server.drop("/track");
    expect([chosen.fault, chosen.history?.track.count]).toEqual([null, 3]);
    server.retries.wake();
    await turns();
    await server.answerTrack([NOW - 20, NOW - 10, NOW - 5, NOW + 1]);
    await server.answerStops();
    expect(chosen.history?.track.count).toBe(4);
  });

  test("is not asked for again while it is, or an older answer might come later", async () => {
    const { server, chosen, report } = await createReady();
    report(NOW + 1);
    for (const second of [60, 100]) {
      setSystemTime(new Date((NOW + second) * 1000));
      report(NOW + second);
      chosen.refresh((NOW + second) * 1000);
    }
    expect([server.open("/track").length, server.open("/current").length]).toEqual([2, 2]);
    await server.answerCurrent(NOW + 60);
    await server.answerTrack([NOW - 20, NOW + 60]);
    await server.answerStops();
    setSystemTime(new Date((NOW + 140) * 1000));
    chosen.refresh((NOW + 140) * 1000);
    expect([server.open("/track").length, server.open("/current").length]).toEqual([3, 3]);
  });

  test("is asked for once more where that failed, though nothing was reported since", async () => {
    const { server, chosen, report } = await createReady();
    report(NOW + 1);
    setSystemTime(new Date((NOW + 60) * 1000));
    chosen.refresh((NOW + 60) * 1000);
    await server.refuse("/track");
    await server.refuse("/current");
    setSystemTime(new Date((NOW + 120) * 1000));
    chosen.refresh((NOW + 120) * 1000);
    expect([server.open("/track").length, server.open("/current").length]).toEqual([3, 3]);
  });

  test("is asked for again only where something was reported", async () => {
    const { server, chosen } = await createReady();
    chosen.refresh((NOW + 600) * 1000);
    await turns();
    expect(server.asked).toHaveLength(3);
  });
});
