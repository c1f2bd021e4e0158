import { describe, expect, test } from "bun:test";
import { answerOf, createTestApp, NOON_MS, type TestApp } from "../../../support/test-app.ts";
import { turns } from "../../../support/turns.ts";
import { BUS, INGEST_PATH, nameOf, OPERATES, pathTo, READ_PATHS, READS, requestTo } from "../requests.ts";

/** `Wherehouse-Sequence` and `Wherehouse-Min-Sequence`: what an answer knows of the log, and must. */

const SEQUENCE = "wherehouse-sequence";

/** Asks with a full key for an answer that knows so much. */
function asking(app: TestApp, path: string, minimum: string, signal?: AbortSignal) {
  const headers = { authorization: `Bearer ${app.keys.full}`, "wherehouse-min-sequence": minimum };
  return Promise.resolve(
    app.answer(new Request(`http://localhost${path}`, signal ? { headers, signal } : { headers })),
  );
}

/** A server on which questions wait for as long as the test wants. */
async function createWaitingApp() {
  const over = Promise.withResolvers<void>();
  const app = await createTestApp({
    wait: async (_ms, signal) => {
      const left = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      await Promise.race([over.promise, left]);
    },
  });
  await app.store([{ ...BUS, timestamp: NOON_MS }]);
  return { app, endWaiting: over.resolve };
}

/** A question that has not been answered so far. */
async function expectWaiting(answer: Promise<Response>): Promise<void> {
  expect(await Promise.race([answer, turns()])).toBeUndefined();
}

describe("Wherehouse-Sequence", () => {
  test("tells up to which entry an answer knows the app, whatever its status", async () => {
    const app = await createTestApp();
    expect((await app.get(READ_PATHS.appCurrent)).headers.get(SEQUENCE)).toBe("0");
    for (const sequence of [1, 2]) {
      const { body, headers } = await app.post([{ ...BUS, timestamp: NOON_MS + sequence }]);
      expect([body.sequence as unknown, headers.get(SEQUENCE)]).toEqual([sequence, String(sequence)]);
      for (const endpoint of READS.filter(({ path }) => !path.includes(":entryId"))) {
        const headers = { authorization: `Bearer ${app.keys.full}` };
        const response = await app.fetch(pathTo(endpoint), requestTo(endpoint, headers));
        expect([nameOf(endpoint), response.headers.get(SEQUENCE)]).toEqual([
          nameOf(endpoint),
          String(sequence),
        ]);
        await response.body?.cancel();
      }
      for (const failing of ["/api/v1/devices/none/locations/current", `${READ_PATHS.nearby}&limit=0`]) {
        const { status, headers } = await app.get(failing);
        expect([[404, 400].includes(status), headers.get(SEQUENCE)]).toEqual([true, String(sequence)]);
      }
    }
  });

  test("is of one's own app: who asks is not told how much others report", async () => {
    const app = await createTestApp();
    await app.store([{ ...BUS, timestamp: NOON_MS }]);
    await app.store([{ ...BUS, timestamp: NOON_MS }], "other");
    await app.store([{ ...BUS, device_id: "tram", timestamp: NOON_MS }]);
    const told = async (key: Parameters<TestApp["get"]>[1]) =>
      (await app.get(READ_PATHS.deviceCurrent, key)).headers.get(SEQUENCE);
    expect([await told("full"), await told("other"), await told("viewer")]).toEqual(["3", "2", "1"]);
  });

  test("is not said by what refuses the key, nor of the service", async () => {
    const app = await createTestApp();
    const refused = [
      await app.get(READ_PATHS.appCurrent, null),
      await app.get(READ_PATHS.appCurrent, "writer"),
      await app.get("/health"),
    ];
    for (const endpoint of OPERATES) refused.push(await app.get(pathTo(endpoint), "operator"));
    for (const { headers } of refused) expect(headers.get(SEQUENCE)).toBeNull();
  });
});

describe("Wherehouse-Min-Sequence", () => {
  test("lets by at once what is known, and tells it", async () => {
    const { app } = await createWaitingApp();
    await app.store([{ ...BUS, timestamp: NOON_MS }], "other");
    for (const [minimum, told] of [
      ["0", "1"],
      ["1", "1"],
      ["2", "2"], // The other app's: nothing of this one is missing up to there.
    ] as const) {
      const response = await asking(app, READ_PATHS.deviceCurrent, minimum);
      expect([response.status, response.headers.get(SEQUENCE)]).toEqual([200, told]);
    }
  });

  test("waits for the entry, and answers with what it brought", async () => {
    const { app } = await createWaitingApp();
    const answer = asking(app, "/api/v1/devices/late/locations/current", "2");
    await expectWaiting(answer);
    await app.store([{ ...BUS, device_id: "late", timestamp: NOON_MS }]);
    const response = await answer;
    expect([response.status, response.headers.get(SEQUENCE)]).toEqual([200, "2"]);
  });

  test("is a 503 where the entry doesn't come in time", async () => {
    const { app, endWaiting } = await createWaitingApp();
    const answer = asking(app, READ_PATHS.deviceCurrent, "2");
    await expectWaiting(answer);
    endWaiting();
    const { status, headers, body } = await answerOf(await answer);
    expect(status).toBe(503);
    expect([headers.get("retry-after"), headers.get(SEQUENCE)]).toEqual(["2", "1"]);
    const message = "this server does not have the log's entry 2 yet; try again shortly";
    expect(body as unknown).toEqual({ success: false, message });
  });

  test("waits for 5 seconds of the machine's time", async () => {
    const waits: number[] = [];
    const app = await createTestApp({ wait: async (ms) => void waits.push(ms) });
    expect((await asking(app, READ_PATHS.deviceCurrent, "1")).status).toBe(503);
    expect(waits).toEqual([5000]);
  });

  test.each(["", "-1", "1.5", "1e3", "x", "1, 2", "9007199254740992"])("%p is a 400", async (minimum) => {
    const app = await createTestApp();
    const { status, body } = await answerOf(await asking(app, `${READ_PATHS.nearby}&limit=0`, minimum));
    expect(status).toBe(400);
    expect(body.message).toStartWith("Wherehouse-Min-Sequence must be ");
  });

  test("comes after the permission, and before the parameters", async () => {
    const app = await createTestApp();
    const headers = { authorization: `Bearer ${app.keys.writer}`, "wherehouse-min-sequence": "x" };
    expect((await app.fetch(READ_PATHS.nearby, { headers })).status).toBe(403);
  });

  test("is nothing to reports, nor to share links, which would learn by it when others report", async () => {
    const { app } = await createWaitingApp();
    const sent = (key: "full" | "viewer") => {
      return { authorization: `Bearer ${app.keys[key]}`, "wherehouse-min-sequence": "99" };
    };
    const body = JSON.stringify({ ...BUS, timestamp: NOON_MS });
    const headers = { ...sent("full"), "content-type": "application/json" };
    expect((await app.fetch(INGEST_PATH, { method: "POST", headers, body })).status).toBe(200);
    const shown = await app.fetch(READ_PATHS.deviceCurrent, { headers: sent("viewer") });
    expect([shown.status, shown.headers.get(SEQUENCE)]).toEqual([200, "1"]);
  });

  test("a key has a third of the places, and who is new finds one; a place comes back", async () => {
    const { app, endWaiting } = await createWaitingApp();
    const leaves = new AbortController();
    const first = asking(app, READ_PATHS.deviceCurrent, "99", leaves.signal);
    const waiting = Array.from({ length: 666 }, () => asking(app, READ_PATHS.deviceCurrent, "99"));
    await expectWaiting(Promise.race([first, ...waiting]));
    const refused = await answerOf(await asking(app, READ_PATHS.deviceCurrent, "99"));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);
    expect(refused.body.message).toStartWith("too many queries wait ");
    const other = { authorization: `Bearer ${app.keys.other}`, "wherehouse-min-sequence": "99" };
    await expectWaiting(app.fetch(READ_PATHS.deviceCurrent, { headers: other }));
    leaves.abort();
    expect((await first).status).toBe(499);
    const next = asking(app, READ_PATHS.deviceCurrent, "99");
    await expectWaiting(next);
    endWaiting();
    for (const answer of [...waiting, next]) expect((await answer).status).toBe(503);
  });

  test("who waits is told of a stop, and of a key that ended meanwhile", async () => {
    const { app, endWaiting } = await createWaitingApp();
    const expiring = { authorization: `Bearer ${app.keys.expiring}`, "wherehouse-min-sequence": "9" };
    const ended = app.fetch(READ_PATHS.deviceCurrent, { headers: expiring });
    const stopped = asking(app, READ_PATHS.deviceCurrent, "9");
    await expectWaiting(Promise.race([ended, stopped]));
    app.clock.advance(3_600_001);
    app.setReadiness({ status: "stopping" });
    endWaiting();
    expect((await answerOf(await ended)).body.code).toBe("AUTH_004");
    expect((await answerOf(await stopped)).body.message).toBe("the server is stopping");
  });
});
