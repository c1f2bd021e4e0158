import { describe, expect, test } from "bun:test";
import { putAll, revisionAt } from "../../../support/geofences/test-events.ts";
import { createTestApp, NOON_MS, type TestApp } from "../../../support/test-app.ts";
import { BUS, EVERY_READ_PATH, READ_PATHS } from "../requests.ts";

/** The samples of a scrape by name and labels. */
async function scrape(app: TestApp): Promise<ReadonlyMap<string, number>> {
  const response = await app.fetch("/metrics", {
    headers: { authorization: `Bearer ${app.keys.operator}` },
  });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const lines = (await response.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]));
}

describe("GET /metrics", () => {
  test("is for keys with the permission operate alone, which open nothing else", async () => {
    const app = await createTestApp();
    for (const key of ["full", "reader", "writer"] as const) {
      const { status, body } = await app.get("/metrics", key);
      expect([status, body.code]).toEqual([403, "AUTH_005"]);
    }
    expect((await app.get("/metrics", null)).status).toBe(401);
    for (const path of EVERY_READ_PATH) {
      expect((await app.get(path, "operator")).status).toBe(403);
    }
  });

  test("answers while the service starts and stops", async () => {
    const app = await createTestApp();
    for (const status of ["starting", "stopping"] as const) {
      app.setReadiness(status === "starting" ? { status, replayed: 1, total: 2 } : { status });
      expect((await scrape(app)).size).toBeGreaterThan(30);
    }
  });

  test("counts what was stored of events, and nothing of a transaction that failed", async () => {
    const app = await createTestApp();
    const again = { revision: 2 };
    putAll(app.events, [revisionAt(1, "1"), revisionAt(2, "2"), revisionAt(3, "3", { kind: "exit" })]);
    putAll(app.events, [
      revisionAt(1, "1", {}, again),
      revisionAt(2, "2", {}, { ...again, isWithdrawn: true }),
    ]);
    const fails = () =>
      app.events.transact(() => {
        app.events.put(revisionAt(9, "9"));
        throw new Error("no");
      });
    expect(fails).toThrow("no");
    const found = await scrape(app);
    const count = (kind: string, change: string) =>
      found.get(`wherehouse_events_total{kind="${kind}",change="${change}"}`);
    expect(["made", "changed", "withdrawn"].map((change) => count("enter", change))).toEqual([2, 1, 1]);
    expect(count("exit", "made")).toBe(1);
  });

  test("counts requests by route and status, and how long they took", async () => {
    const app = await createTestApp();
    await app.store([{ ...BUS, timestamp: NOON_MS }]);
    await app.get(READ_PATHS.nearby);
    await app.get(`${READ_PATHS.nearby}&limit=0`);
    await app.get("/api/v1/devices/secret-id/locations/current");
    await app.get("/nothing/secret-id");
    await app.get(READ_PATHS.appCurrent, null);
    const found = await scrape(app);
    const requests = (method: string, route: string, status: number) =>
      found.get(`wherehouse_http_requests_total{method="${method}",route="${route}",status="${status}"}`);
    expect(requests("POST", "/ingest/v1/locations", 200)).toBe(1);
    expect(requests("GET", "/api/v1/devices/nearby", 200)).toBe(1);
    expect(requests("GET", "/api/v1/devices/nearby", 400)).toBe(1);
    expect(requests("GET", "/api/v1/devices/:deviceId/locations/current", 404)).toBe(1);
    expect(requests("any", "none", 404)).toBe(1);
    expect(requests("GET", "/api/v1/locations/current", 401)).toBe(1);
    const duration = "wherehouse_http_request_duration_seconds";
    const labels = 'method="GET",route="/api/v1/devices/nearby"';
    expect(found.get(`${duration}_count{${labels}}`)).toBe(2);
    expect(found.get(`${duration}_bucket{le="+Inf",${labels}}`)).toBe(2);
    expect(found.get(`${duration}_sum{${labels}}`)).toBeGreaterThan(0);
    expect(found.get("wherehouse_http_requests_in_flight")).toBe(1); // This one.
    expect([...found.keys()].join("\n")).not.toContain("secret-id");
  });

  test("counts reports, and shows what is held", async () => {
    const app = await createTestApp();
    const report = { ...BUS, timestamp: NOON_MS };
    await app.post([report, { ...report, device_id: "tram" }, { ...report, latitude: 91 }]);
    await app.post([report]);
    const found = await scrape(app);
    expect(found.get('wherehouse_reports_total{outcome="accepted"}')).toBe(2);
    expect(found.get('wherehouse_reports_total{outcome="duplicates"}')).toBe(1);
    expect(found.get('wherehouse_reports_total{outcome="rejected"}')).toBe(1);
    expect(found.get("wherehouse_hot_records")).toBe(2);
    expect(found.get("wherehouse_devices")).toBe(2);
    expect(found.get("wherehouse_log_bytes")).toBeGreaterThan(32);
    expect(found.get('wherehouse_log_state{state="open"}')).toBe(1);
    expect(found.get('wherehouse_build_info{version="1.2.3"}')).toBe(1);
    expect(found.has("wherehouse_last_seal_timestamp_seconds")).toBe(false); // There was none yet.
    expect(found.get("wherehouse_seal_late")).toBe(0);
  });

  test("counts active corrections and the records that they touch, of all apps", async () => {
    const app = await createTestApp();
    await app.store([0, 1, 2].map((second) => ({ ...BUS, timestamp: NOON_MS - 1000 * second })));
    const change = async (method: string, path: string, body?: object) => {
      const headers = { authorization: `Bearer ${app.keys.full}`, "content-type": "application/json" };
      const response = await app.fetch(path, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return (await response.json()).correction.id;
    };
    const counts = async () => {
      const found = await scrape(app);
      return [found.get("wherehouse_corrections"), found.get("wherehouse_corrected_records")];
    };
    expect(await counts()).toEqual([0, 0]);
    const hide = { action: "hide", device_id: BUS.device_id };
    await change("POST", "/api/v1/corrections", { ...hide, timestamps: [NOON_MS, NOON_MS - 1000] });
    const last = await change("POST", "/api/v1/corrections", { ...hide, timestamps: [NOON_MS - 2000] });
    expect(await counts()).toEqual([2, 3]);
    await change("DELETE", `/api/v1/corrections/${last}`);
    expect(await counts()).toEqual([1, 2]);
  });

  test("has names with their unit, and a help for each", async () => {
    const app = await createTestApp();
    const response = await app.fetch("/metrics", {
      headers: { authorization: `Bearer ${app.keys.operator}` },
    });
    const lines = (await response.text()).split("\n");
    const types = lines.filter((line) => line.startsWith("# TYPE ")).map((line) => line.split(" ").slice(2));
    expect(types.length).toBeGreaterThan(30);
    for (const [name, type] of types) {
      expect(name).toMatch(/^(wherehouse|process)_[a-z_]+$/);
      expect(lines.find((line) => line.startsWith(`# HELP ${name} `))).toMatch(/\.$/);
      if (type === "counter") expect(name).toEndWith("_total");
      if (type === "histogram") expect(name).toEndWith("_seconds");
    }
  });
});
