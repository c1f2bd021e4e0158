import { expect, test } from "bun:test";
import { createTestApp, NOON_MS, type TestApp } from "../../../support/test-app.ts";

const REPORT = { device_id: "bus", latitude: 53.4, longitude: -2.9 };

/** The texts of the stream's events, one at a time, once `hide` has taken effect. */
async function eventsAfter(app: TestApp, query: string, act: () => Promise<void>): Promise<string> {
  const closing = new AbortController();
  const response = await app.fetch(`/api/v1/live?${query}`, {
    headers: { authorization: `Bearer ${app.keys.full}` },
    signal: closing.signal,
  });
  const reader = response.body!.getReader();
  await reader.read(); // The beginning.
  await act();
  const { value } = await reader.read();
  closing.abort();
  return new TextDecoder().decode(value);
}

function hide(app: TestApp, timestamps: readonly number[]): () => Promise<void> {
  return async () => {
    const response = await app.fetch("/api/v1/corrections", {
      method: "POST",
      headers: { authorization: `Bearer ${app.keys.full}`, "content-type": "application/json" },
      body: JSON.stringify({ action: "hide", device_id: "bus", timestamps }),
    });
    expect(response.status).toBe(200);
  };
}

test("viewers get the record that is the newest once a correction hides the one before", async () => {
  const app = await createTestApp();
  await app.store([
    { ...REPORT, timestamp: NOON_MS - 2000, latitude: 1 },
    { ...REPORT, timestamp: NOON_MS - 1000 },
  ]);
  const text = await eventsAfter(app, "bbox=-3,53,-2,54", hide(app, [NOON_MS - 1000]));
  expect(text).toContain(`"timestamp":${NOON_MS - 2000}`);
  expect(text).not.toContain("removed");
});

test("viewers hear that a device is removed once corrections hide all of it", async () => {
  const app = await createTestApp();
  await app.store([{ ...REPORT, timestamp: NOON_MS - 1000 }]);
  const text = await eventsAfter(app, "device_id=bus", hide(app, [NOON_MS - 1000]));
  expect(text).toBe(
    'event: removed\ndata: {"device_id":"bus","sequence":2}\n\nid: 2\ndata: {"locations":[]}\n\n',
  );
});

test("viewers of another place hear nothing of a device that is removed", async () => {
  const app = await createTestApp();
  await app.store([{ ...REPORT, timestamp: NOON_MS - 1000 }]);
  const text = await eventsAfter(app, "bbox=10,10,11,11", async () => {
    await hide(app, [NOON_MS - 1000])();
    await app.store([{ device_id: "tram", timestamp: NOON_MS, latitude: 10.5, longitude: 10.5 }]);
  });
  expect(text).toContain('"device_id":"tram"');
  expect(text).not.toContain("bus");
});
