import { expect, test } from "bun:test";
import { FactsCache } from "../../../../src/web/days/day-facts.ts";
import { turns } from "../../../support/turns.ts";
import { FakeServer } from "../device/fake-server.ts";

const MINUTE_MS = 60_000;

function create() {
  const server = new FakeServer();
  const clock = { nowMs: 1_000_000, newestMs: 5 as number | null };
  let changes = 0;
  const cache = new FactsCache({
    api: server,
    newestMs: () => clock.newestMs,
    changed: () => changes++,
    now: () => clock.nowMs,
  });
  const look = (years: readonly number[] = [2026], zone = "UTC") =>
    cache.look({ deviceId: "bus 1/2", zone, years });
  const answer = async (...dates: string[]) => {
    const days = dates.map((date) => ({ date, reports: 3, distance_meters: 7, moving_seconds: 2, stops: 1 }));
    server.last("/days").answer({ days });
    await turns();
  };
  return { server, clock, cache, look, answer, changes: () => changes };
}

test("a year is one request, and its days are cached", async () => {
  const { server, look, answer, changes } = create();
  expect(look()).toEqual({ days: [], isLoading: true, isIncomplete: false, fault: null });
  expect(server.last("/days")).toMatchObject({
    path: "/api/v1/devices/bus%201%2F2/days",
    query: { start_date: "2026-01-01", end_date: "2026-12-31", timezone: "UTC" },
  });
  await answer("2026-03-01");
  expect(changes()).toBe(1);
  expect(look()).toMatchObject({
    isLoading: false,
    days: [{ day: "2026-03-01", reports: 3, speedMax: null }],
  });
  expect(look().days).toBe(look().days);
  expect(server.asked).toHaveLength(1);
});

test("another zone has other days", async () => {
  const { server, look, answer } = create();
  look();
  await answer("2026-03-01");
  expect(look([2026], "Asia/Tokyo")).toMatchObject({ days: [], isLoading: true });
  expect(server.last("/days").query.timezone).toBe("Asia/Tokyo");
});

test("years are loaded one after the other, the newest first", async () => {
  const { server, look, answer } = create();
  look([2025, 2026]);
  look([2025, 2026]);
  expect(server.asked.map(({ query }) => query.start_date)).toEqual(["2026-01-01"]);
  await answer("2026-03-01");
  expect(look([2025, 2026])).toMatchObject({ isLoading: true, days: [{ day: "2026-03-01" }] });
  await answer("2025-03-01");
  expect(look([2025, 2026]).days.map(({ day }) => String(day))).toEqual(["2025-03-01", "2026-03-01"]);
});

test("after a report the days stay, and are loaded again after a while", async () => {
  const { server, clock, look, answer } = create();
  look();
  await answer("2026-03-01");
  clock.nowMs += MINUTE_MS;
  look();
  expect(server.asked).toHaveLength(1);
  clock.newestMs = 6;
  expect(look()).toMatchObject({ isLoading: false, days: [{ day: "2026-03-01" }] });
  expect(server.asked).toHaveLength(2);
  clock.newestMs = 7; // Too soon for another request.
  await answer("2026-03-01", "2026-03-02");
  expect(look().days).toHaveLength(2);
  expect(server.asked).toHaveLength(2);
});

test("a refusal is shown, and the year is loaded again when the user wants it", async () => {
  const { server, cache, look, answer } = create();
  look();
  await server.refuse("/days");
  expect(look()).toMatchObject({ isLoading: false, fault: "Too many days." });
  expect(server.asked).toHaveLength(1);
  cache.retry();
  look();
  await answer("2026-03-01");
  expect(look()).toMatchObject({ fault: null, days: [{ day: "2026-03-01" }] });
});

test("a lost connection is tried again, at once if the user wants it", async () => {
  const { server, cache, look, answer } = create();
  look();
  await server.drop("/days");
  expect(look().fault).toContain("502");
  cache.retry();
  await turns();
  expect(server.asked).toHaveLength(2);
  await answer("2026-03-01");
  expect(look()).toMatchObject({ fault: null, days: [{ day: "2026-03-01" }] });
});

test("nothing stays at the end of a session, also not an answer that is on its way", async () => {
  const { server, cache, look } = create();
  look();
  const { signal } = server.last("/days");
  cache.clear();
  expect(signal?.aborted).toBe(true);
  expect(look()).toMatchObject({ days: [], isLoading: true });
});
