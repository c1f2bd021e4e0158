import { describe, expect, test } from "bun:test";
import { createTestApp, NOON_MS, type TestApp } from "../../support/test-app.ts";
import { BUS } from "../http/requests.ts";
import { runCli } from "./support/run-cli.ts";

/** `doctor`, beside a server that answers it. */

const MINUTE_MS = 60_000;

/** Serves the app on a port while the work is done. */
async function serving(app: TestApp, work: (url: string) => Promise<void>): Promise<void> {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname, search } = new URL(request.url);
      return app.fetch(pathname + search, { method: request.method, headers: request.headers });
    },
  });
  try {
    await work(`http://127.0.0.1:${server.port}`);
  } finally {
    await server.stop(true);
  }
}

/** An app with a phone whose clock is two minutes behind. */
async function createLateApp(deviceId: string): Promise<TestApp> {
  const app = await createTestApp();
  for (let minute = 0; minute < 8; minute++) {
    const nowMs = NOON_MS + minute * MINUTE_MS;
    app.clock.set(nowMs);
    await app.store([{ device_id: deviceId, timestamp: nowMs - 2 * MINUTE_MS, latitude: 53, longitude: -2 }]);
  }
  return app;
}

describe("doctor", () => {
  test("says what is wrong in sentences, and ends with 1", async () => {
    const app = await createLateApp("phone \u202eof Anna");
    await serving(app, async (url) => {
      const { code, out, error } = await runCli("doctor", "--url", url, "--key", app.keys.reader);
      expect([code, error]).toEqual([1, ""]);
      expect(out).toBe(
        [
          "phone \ufffdof Anna (native), 2026-03-20T12:07Z",
          "  The device's clock is behind, so its positions are kept under wrong times.",
          "  Fresh positions carry times 2 min before their arrival (median).",
          "  Switch on automatic date and time in the device's settings.",
          "",
        ].join("\n"),
      );
    });
  });

  test("says the name of a device before its id", async () => {
    const app = await createLateApp("7f3a");
    const { status } = await app.fetch("/api/v1/devices/7f3a/profile", {
      method: "PUT",
      headers: { authorization: `Bearer ${app.keys.full}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "Anna\u202e's phone" }),
    });
    expect(status).toBe(200);
    await serving(app, async (url) => {
      const { out } = await runCli("doctor", "--url", url, "--key", app.keys.reader);
      expect(out).toStartWith("Anna\ufffd's phone, 7f3a (native), 2026-03-20T12:07Z\n");
    });
  });

  test("--ready asks without a key, and exits with 1 unless the server answers that it is ready", async () => {
    const app = await createTestApp();
    let url = "";
    await serving(app, async (address) => {
      url = address;
      expect(await runCli("doctor", "--ready", "--url", url)).toEqual({
        code: 0,
        out: "Ready.\n",
        error: "",
      });
      const { code, error } = await runCli("doctor", "--ready", "--url", `${url}/elsewhere`);
      expect([code, error]).toEqual([1, `${url}/elsewhere/ready answered 404\n`]);
    });
    expect(await runCli("doctor", "--ready", "--url", url)).toMatchObject({ code: 1, out: "" });
  });

  test("says it as JSON", async () => {
    const app = await createLateApp("phone");
    await serving(app, async (url) => {
      const { code, out } = await runCli("doctor", "--url", url, "--key", app.keys.reader, "--json");
      expect(code).toBe(1);
      const report = JSON.parse(out);
      expect(report).toMatchObject({ url, app_id: "fleet", total_count: 1, problems: [] });
      expect(report.findings).toMatchObject([{ device_id: "phone", client: "native", kind: "clock" }]);
    });
  });

  test("ends with 0 where nothing is wrong, of all devices or of the one that is asked about", async () => {
    const app = await createLateApp("phone");
    await serving(app, async (url) => {
      const ofOther = await runCli("doctor", "--url", url, "--key", app.keys.reader, "--device", "tablet");
      expect(ofOther).toEqual({
        code: 0,
        out: 'Device "tablet" has no problem, if it reported.\n',
        error: "",
      });
      const ofAll = await runCli("doctor", "--url", url, "--key", app.keys.other);
      expect(ofAll).toEqual({
        code: 0,
        out: "No device that reported has a problem.\n",
        error: "",
      });
    });
  });

  test("says how many corrections and profiles the app has, with 0", async () => {
    const app = await createTestApp();
    await app.store([1, 2].map((second) => ({ ...BUS, timestamp: NOON_MS - 1000 * second })));
    const headers = { authorization: `Bearer ${app.keys.full}`, "content-type": "application/json" };
    const hide = { action: "hide", device_id: BUS.device_id, start: 0, end: NOON_MS - 1000 };
    for (const [method, path, body] of [
      ["POST", "/api/v1/corrections", { ...hide, start: NOON_MS - 3000 }],
      ["PUT", "/api/v1/devices/tram/profile", { name: "Tram" }],
    ] as const)
      expect((await app.fetch(path, { method, headers, body: JSON.stringify(body) })).status).toBe(200);
    await serving(app, async (url) => {
      const { code, out } = await runCli("doctor", "--url", url, "--key", app.keys.reader);
      expect([code, out]).toEqual([
        0,
        "No device that reported has a problem.\n\nThe app has 1 active correction of 1 record and 1 device profile.\n",
      ]);
      const other = await runCli("doctor", "--url", url, "--key", app.keys.other, "--json");
      expect(JSON.parse(other.out).stored).toMatchObject({
        corrections: 0,
        profiles: 0,
        corrections_max: 10_000,
      });
    });
  });

  test("tells of an MQTT broker", async () => {
    const status = {
      connections: 1,
      held: 0,
      messages: { taken: 5, faulty: 0 },
      unassured: 0,
      unheard: { count: 0, topics: [] },
      events: null,
      isElsewhere: false,
      outageSeconds: 1800,
    };
    for (const connected of [1, 0]) {
      const app = await createTestApp({ mqttOf: () => ({ ...status, connected }) });
      await serving(app, async (url) => {
        const { code, out } = await runCli("doctor", "--url", url, "--key", app.keys.reader);
        expect(code).toBe(1 - connected);
        expect(out).toEndWith(
          "At the rate of the last hour the MQTT broker can queue messages for 30 min while the server is down.\n",
        );
        expect(out.includes("0 of 1 connections to the MQTT broker are up")).toBe(connected === 0);
      });
    }
  });

  test("ends with 1 and a sentence where it can't ask, and never says the key", async () => {
    const app = await createTestApp();
    await serving(app, async (url) => {
      const refused = await runCli("doctor", "--url", url, "--key", app.keys.writer);
      expect(refused).toEqual({
        code: 1,
        out: "",
        error: `${url} answered 403: the API key lacks the permission read.\n`,
      });
    });
    const nobody = await runCli("doctor", "--url", "http://127.0.0.1:1", "--key", app.keys.reader);
    expect([nobody.code, nobody.out]).toEqual([1, ""]);
    expect(nobody.error).toMatch(
      /^No server answers at http:\/\/127\.0\.0\.1:1 \(\w+\); is it running there\?\n$/,
    );
  });
});
