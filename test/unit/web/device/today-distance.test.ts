import { describe, expect, test } from "bun:test";
import { TodayDistance, type TodayQuestion } from "../../../../src/web/device/today-distance.ts";
import type { LocalDay } from "../../../../src/web/time/local-day.ts";
import { turns } from "../../../support/turns.ts";
import { FakeServer } from "./fake-server.ts";

const QUESTION: TodayQuestion = {
  deviceId: "bus 1",
  today: "2026-11-22" as LocalDay,
  zone: "Europe/Berlin",
  newestMs: 1_000_000,
};

function setUp() {
  const server = new FakeServer();
  const count = { changes: 0 };
  const distance = new TodayDistance({ api: server, changed: () => count.changes++ });
  const answer = async (...meters: readonly number[]) => {
    server.last("/days").answer({ days: meters.map((distance_meters) => ({ distance_meters })) });
    await turns();
  };
  return { server, count, distance, answer };
}

describe("the distance of today", () => {
  test("is loaded once, and again a minute after the last report", async () => {
    const { server, count, distance, answer } = setUp();
    expect(distance.look(QUESTION)).toBeNull();
    distance.look(QUESTION);
    expect(server.asked.map(({ path }) => path)).toEqual(["/api/v1/devices/bus%201/days"]);
    expect(server.last("/days").query).toEqual({
      start_date: "2026-11-22",
      end_date: "2026-11-22",
      timezone: "Europe/Berlin",
    });
    await answer(120);
    expect([count.changes, distance.look({ ...QUESTION, newestMs: 1_059_999 })]).toEqual([1, 120]);
    expect(server.asked.length).toBe(1);
    expect(distance.look({ ...QUESTION, newestMs: 1_060_000 })).toBe(120); // Until the new one is there.
    expect(server.asked.length).toBe(2);
    await answer(150);
    expect(distance.look({ ...QUESTION, newestMs: 1_060_000 })).toBe(150);
  });

  test("is not that of another device, zone or day, and nothing on a day without reports", async () => {
    const { server, distance, answer } = setUp();
    for (const other of [{ deviceId: "van" }, { zone: "UTC" }, { today: "2026-11-23" as LocalDay }]) {
      distance.look(QUESTION);
      await answer(120);
      expect(distance.look({ ...QUESTION, ...other })).toBeNull();
      await answer();
      expect(distance.look({ ...QUESTION, ...other })).toBe(0);
    }
    distance.look(QUESTION);
    server.last("/days").fail(new Error("The server answered 502."));
    await turns();
    expect(distance.look(QUESTION)).toBeNull();
  });
});
