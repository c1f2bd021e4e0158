import { expect, test } from "bun:test";
import { BASE_MS } from "../../../support/reports/arbitrary-reports.ts";
import { createTestApp } from "../../../support/test-app.ts";

/** As OwnTracks sends a queue after a reconnect: several fixes with one time. */
const SECONDS = BASE_MS / 1000;
const GOOD = {
  _type: "location",
  lat: 52,
  lon: 13,
  acc: 12,
  vel: 47,
  cog: 90,
  tst: SECONDS,
  topic: "owntracks/a/b",
};
const WORSE = { _type: "location", lat: 52.01, lon: 13.01, acc: 1038, tst: SECONDS, topic: "owntracks/a/b" };

test("of two fixes that OwnTracks sends with one time the more accurate one is shown, whatever the order", async () => {
  const app = await createTestApp({ startMs: BASE_MS + 60_000 });
  const shown = [];
  for (const [device, fixes] of [
    ["d1", [GOOD, WORSE]],
    ["d2", [WORSE, GOOD]],
  ] as const) {
    for (const fix of fixes) {
      const path = `/ingest/owntracks/k/${app.keys.writer}/${device}`;
      const headers = { "content-type": "application/json" };
      const response = await app.fetch(path, { method: "POST", headers, body: JSON.stringify(fix) });
      expect(response.status).toBe(200);
    }
    const { body } = await app.get(`/api/v1/devices/${device}/locations/current`);
    const { latitude, longitude, horizontal_accuracy, speed, bearing } = body.location as Record<
      string,
      unknown
    >;
    shown.push([latitude, longitude, horizontal_accuracy, Math.round(Number(speed)), bearing]);
  }
  expect(shown).toEqual([
    [52, 13, 12, 13, 90],
    [52, 13, 12, 13, 90],
  ]);
});
