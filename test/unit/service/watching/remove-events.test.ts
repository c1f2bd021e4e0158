import { afterAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inOneTurn } from "../../../../src/lib/schedule/steps.ts";
import type { AppId, DeviceId, UserId } from "../../../../src/model/ids.ts";
import type { EventStore } from "../../../../src/service/watching/event-store.ts";
import { forgetEvents } from "../../../../src/service/watching/remove-events.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import { EventReader } from "../../../support/event-reader.ts";
import { openEvents, putAll, revisionAt } from "../../../support/geofences/test-events.ts";
import { APP_ID, OTHER_APP_ID } from "../../../support/test-app.ts";

/* Events that go: over a real directory, down to the bytes of its files. */

afterAll(removeArchiveApps);

const APP = APP_ID as AppId;
const RIVAL = OTHER_APP_ID as AppId;
const NOW_MS = Date.UTC(2026, 0, 28, 12);
const HOUR_MS = 3_600_000;
/** More than a step deletes. */
const EVENTS = 600;

/** Events of an hour ago of the device and of another one, of both users, and of another app. */
function fill({ directory: { eventStore } }: ArchiveApp): void {
  const who = (device: string, user: string) => ({ deviceId: device as DeviceId, userId: user as UserId });
  for (const [index, [device, user, appId]] of (
    [
      ["vanishing-van", "vanishing-vera", APP],
      ["vanishing-van", "bert", APP],
      ["bus", "vanishing-vera", APP],
      ["bus", "bert", APP],
      ["vanishing-van", "vanishing-vera", RIVAL],
    ] as const
  ).entries())
    putAll(
      eventStore,
      Array.from({ length: EVENTS }, (_, i) =>
        revisionAt(NOW_MS - HOUR_MS + i, `${index}`, who(device, user), { appId, isWithdrawn: i % 3 === 0 }),
      ),
    );
}

function count({ database }: EventStore, condition: string): number {
  return Number(database.prepare(`SELECT count(*) AS n FROM events WHERE ${condition}`).find()!.n);
}

async function erase(app: ArchiveApp, subject: object): Promise<string> {
  const headers = { authorization: `Bearer ${app.keys.eraser}`, "content-type": "application/json" };
  const answer = await app.fetch("/api/v1/erasures", {
    method: "POST",
    headers,
    body: JSON.stringify(subject),
  });
  const { erasure } = (await answer.json()) as { erasure: { id: string } };
  expect(answer.status).toBe(200);
  return erasure.id;
}

const OPTIONS = { dropsDamaged: false, onDaysLeft: () => undefined };

/** Names of the database's files in which the bytes of a text are. */
function filesWith({ dataDir }: ArchiveApp, text: string): string[] {
  const directory = join(dataDir, "events");
  return readdirSync(directory).filter((name) => readFileSync(join(directory, name)).includes(text));
}

test.each([
  ["a device", { device_id: "vanishing-van" }, "device_id = 'vanishing-van'"],
  ["a user", { user_id: "vanishing-vera" }, "user_id = 'vanishing-vera'"],
])(
  "the erasure of %s hides its events at once, and then takes their bytes out of all files",
  async (_, subject, condition) => {
    const app = await createArchiveApp({ startMs: NOW_MS });
    fill(app);
    const { eventStore, eraser } = app.directory;
    const of = (appId: AppId) => count(eventStore, `app_id = '${appId}' AND ${condition}`);
    const [text] = Object.values(subject);
    expect(filesWith(app, text!)).toContain("events.sqlite-wal");
    const rest = count(eventStore, `NOT (app_id = '${APP}' AND ${condition})`);
    const id = await erase(app, subject);
    const page = await app.get("/api/v1/events?limit=1000");
    expect(JSON.stringify(page.body)).not.toContain(text!);
    expect(page.body.events).toHaveLength(Math.min(2 * EVENTS * (2 / 3), 1000));
    expect(JSON.stringify((await app.get("/api/v1/events?after=0&limit=1000")).body)).not.toContain(text!);
    putAll(eventStore, [
      revisionAt(
        NOW_MS - HOUR_MS,
        "9",
        { deviceId: "vanishing-van" as DeviceId, userId: "vanishing-vera" as UserId },
        { appId: APP },
      ),
    ]);
    expect(await eraser.finishNow(OPTIONS)).toBeNull();
    expect([of(APP), of(RIVAL), count(eventStore, "1")]).toEqual([0, EVENTS, rest]);
    const { report } = (await eraser.find(APP, id))!;
    expect(report!.places).toContainEqual({ place: "events", removed: 2 * EVENTS, bytes: 0, files: [] });
    eventStore.database.run(`DELETE FROM events WHERE app_id = '${RIVAL}'`);
    expect(eventStore.checkpoint()).toBe(true);
    expect(filesWith(app, text!)).toEqual([]);
    await app.close();
  },
);

test("a stream has no erased events, although another stream of the app has just sent them", async () => {
  const app = await createArchiveApp({ startMs: NOW_MS });
  fill(app);
  const headers = { authorization: `Bearer ${app.keys.reader}` };
  const listen = async () => {
    const reader = new EventReader(
      await app.fetch("/api/v1/live?types=event&since=0&late=true", { headers }),
    );
    await reader.next(); // It is empty.
    return { reader, data: (await reader.next())!.data };
  };
  const before = await listen();
  expect(before.data).toContain("vanishing-van");
  await erase(app, { device_id: "vanishing-van" });
  const during = await listen();
  expect(during.data).toContain("bus");
  expect(during.data).not.toContain("vanishing-van");
  expect(await app.directory.eraser.finishNow(OPTIONS)).toBeNull();
  const after = await listen();
  expect(after.data).toContain("bus");
  expect(after.data).not.toContain("vanishing-van");
  for (const { reader } of [before, during, after]) await reader.cancel();
  await app.close();
});

test("an erased device makes events anew, also while its files are not erased", async () => {
  const app = await createArchiveApp({ startMs: NOW_MS });
  await erase(app, { device_id: "vanishing-van" });
  const later = revisionAt(NOW_MS + HOUR_MS, "1", { deviceId: "vanishing-van" as DeviceId }, { appId: APP });
  app.clock.advance(2 * HOUR_MS);
  putAll(app.directory.eventStore, [later]);
  expect((await app.get("/api/v1/events")).body.events).toHaveLength(1);
  expect(await app.directory.eraser.finishNow(OPTIONS)).toBeNull();
  expect((await app.get("/api/v1/events")).body.events).toHaveLength(1);
  await app.close();
});

test("the erasure of a range leaves the events before and after it", async () => {
  const app = await createArchiveApp({ startMs: NOW_MS });
  fill(app);
  const start = NOW_MS - HOUR_MS + 100;
  await erase(app, { device_id: "vanishing-van", start, end: start + 50 });
  expect(await app.directory.eraser.finishNow(OPTIONS)).toBeNull();
  expect(count(app.directory.eventStore, `app_id = '${APP}' AND device_id = 'vanishing-van'`)).toBe(
    2 * (EVENTS - 50),
  );
  await app.close();
});

test("forgetEvents() takes those from before an instant, of all apps", () => {
  const store = openEvents();
  for (const appId of ["a", "b"] as AppId[])
    putAll(
      store,
      Array.from({ length: EVENTS }, (_, i) => revisionAt(i, "1", {}, { appId })),
    );
  expect(inOneTurn(forgetEvents(store, 500))).toBe(1000);
  expect([count(store, "timestamp_ms < 500"), count(store, "1")]).toEqual([0, 200]);
  expect(inOneTurn(forgetEvents(store, 500))).toBe(0);
});
