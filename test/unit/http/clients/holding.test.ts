import { expect, test } from "bun:test";
import { createTestApp, type TestApp } from "../../../support/test-app.ts";
import { turns } from "../../../support/turns.ts";

/*
 * No client is ever told that it is too fast, since some delete what they are refused: it is answered late, and only
 * where that doesn't help a 503. What is sent again at once is refused late. Time passes when the test says so.
 */

const OSMAND = "/ingest/osmand";
const FIX = "lat=53.4&lon=-2.9";

/** Holds all answers until they are let go. */
function createHold() {
  const waiting: { ms: number; go(): void }[] = [];
  return {
    waiting,
    wait: (ms: number, signal: AbortSignal) =>
      new Promise<void>((go) => {
        waiting.push({ ms, go });
        signal.addEventListener("abort", () => go());
      }),
    /** Lets all that is held go on, slice by slice, and tells how long the longest was held. */
    async passAll(): Promise<number> {
      let passedMs = 0;
      while (waiting.length > 0) {
        const slice = waiting.splice(0);
        passedMs += Math.max(...slice.map(({ ms }) => ms));
        for (const { go } of slice) go();
        await turns();
      }
      return passedMs;
    },
  };
}

function sendFrom(app: TestApp, key: "free" | "full") {
  return (count: number) =>
    Array.from({ length: count }, () =>
      app.fetch("/ingest/overland", {
        method: "POST",
        headers: { authorization: `Bearer ${app.keys[key]}` },
        body: '{"locations":[]}',
      }),
    );
}

test("a key above its rate is answered late, up to 5 s, and then with a 503; never with a 429", async () => {
  const { wait, waiting, passAll } = createHold();
  const app = await createTestApp({ wait });
  const send = sendFrom(app, "free");
  for (const response of await Promise.all(send(20))) expect(response.status).toBe(200);
  const late = send(50);
  const refused = await Promise.all(send(30));
  for (const response of refused) {
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("30");
    expect(await response.text()).toBe('{"error":"more requests than the key\'s tier allows"}');
  }
  expect(waiting).toHaveLength(50);
  expect(await passAll()).toBe(5000);
  for (const response of await Promise.all(late)) expect(response.status).toBe(200);
});

test("a key without a limit is never held, and requests for data have the rate that they had", async () => {
  const { wait, waiting } = createHold();
  const app = await createTestApp({ wait });
  for (const response of await Promise.all(sendFrom(app, "full")(500))) expect(response.status).toBe(200);
  expect(waiting).toEqual([]);
  await Promise.all(sendFrom(app, "free")(20));
  expect((await app.get("/api/v1/locations/current", "free")).status).toBe(200);
});

test("whoever waits for its turn while the server stops is told so, and nothing of it is stored", async () => {
  const { wait, passAll } = createHold();
  const app = await createTestApp({ wait });
  await Promise.all(sendFrom(app, "free")(20));
  const late = app.fetch(`${OSMAND}/k/${app.keys.free}/phone?${FIX}`);
  app.setReadiness({ status: "stopping" });
  await passAll();
  expect((await late).status).toBe(503);
  app.setReadiness({ status: "ready", lagMs: null });
  expect((await app.get("/api/v1/locations/current")).body.locations).toEqual([]);
});

test("what OsmAnd is refused it is told 5 s later, whatever it is", async () => {
  const { wait, passAll } = createHold();
  const app = await createTestApp({ wait });
  const key = app.keys.writer;
  for (const [path, status] of [
    [`${OSMAND}/k/nonsense?${FIX}`, 401],
    [`${OSMAND}/k/${app.keys.reader}?${FIX}`, 401],
    [`${OSMAND}/k/${key}`, 400],
    [`${OSMAND}/k/${key}?${FIX}&speed_unit=x`, 400],
  ] as const) {
    const answer = app.fetch(path);
    await turns();
    expect(await passAll()).toBe(5000);
    expect((await answer).status).toBe(status);
  }
  const good = app.fetch(`${OSMAND}/k/${key}?${FIX}`);
  expect(await passAll()).toBe(0);
  expect((await good).status).toBe(200);
});

test("200 refusals are held at a time, fewer of one key and of all that have none; the rest goes at once", async () => {
  const { wait, waiting, passAll } = createHold();
  const app = await createTestApp({ wait });
  const refused = (key: string, count: number) =>
    Array.from({ length: count }, () => app.fetch(`${OSMAND}/k/${key}`));
  const all = refused("one-wrong-key", 100);
  await turns();
  expect(waiting).toHaveLength(67);
  for (let i = 0; i < 100; i++) all.push(...refused(`wrong-key-${i}`, 1));
  await turns();
  expect(waiting).toHaveLength(100);
  all.push(...refused(app.keys.writer, 100), ...refused(app.keys.other, 100));
  await turns();
  expect(waiting.length).toBeGreaterThan(150);
  expect(waiting.length).toBeLessThanOrEqual(200);
  await passAll();
  const statuses = await Promise.all(all.map(async (answer) => (await answer).status));
  expect(statuses).toEqual([...new Array(200).fill(401), ...new Array(200).fill(400)]);
});

test("nothing is held for a client that has gone", async () => {
  const { wait, passAll, waiting } = createHold();
  const app = await createTestApp({ wait });
  const gone = new AbortController();
  const answer = app.fetch(`${OSMAND}/k/nonsense`, { signal: gone.signal });
  await turns();
  expect(waiting).toHaveLength(1);
  gone.abort();
  await answer;
  expect(await passAll()).toBe(5000); // The wait that was cut short, and no other.
});
