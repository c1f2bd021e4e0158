import { afterAll, expect, test } from "bun:test";
import type { KeyedEndpoint } from "../../../src/http/endpoint.ts";
import { Grid } from "../../../src/model/geo/grid.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../support/archive-app.ts";
import { textOf } from "../../support/event-reader.ts";
import * as fc from "../../support/fast-check.ts";
import { createTestApp, NOON_MS, type TestApp, VIEWS_FROM_MS } from "../../support/test-app.ts";
import { KEYED, nameOf, pathTo } from "../http/requests.ts";
import { probesOf } from "./support/view-probes.ts";

/*
 * Goal: a share link tells nothing but what it shows. Method: two services hold the same as far as a link shows it, and
 * differ in all else: where in its cell and when in its minute a record is, who sent it, what came before the link
 * begins, which other devices there are. Every endpoint that links open is asked for everything that could tell the two
 * apart, above all bounds of times and places close to the exact ones. Answers are compared whole.
 */

afterAll(removeArchiveApps);

const RUNS = 25;
const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;
const CELL_METERS = 500; // Of the blurred key of test apps.
const HEIGHT_DEGREES = 0.004; // Some less than a cell's.

const OPENED = KEYED.filter(({ isForViews }) => isForViews);
/** Of those that test apps' links show, and others. */
const SHOWN = ["bus", "ferry"];
const HIDDEN = ["tram", "Bus", "bus2", "zeppelin"];

/** Within a cell and a minute, from its middle and its begin. */
interface Offset {
  readonly north: number;
  readonly east: number;
  readonly ms: number;
}

/** A record of a shown device, as a link shows it, and what two services have of it. */
interface Shown {
  readonly device: string;
  readonly minute: number;
  readonly north: number;
  readonly east: number;
  readonly inFirst: Offset;
  readonly inSecond: Offset;
}

const part = fc.double({ min: -0.45, max: 0.45, noNaN: true });
const offset: fc.Arbitrary<Offset> = fc.record({
  north: part,
  east: part,
  ms: fc.integer({ min: 0, max: MINUTE_MS - 1 }),
});

/** No two of a device are of one minute: which of them is the newer is told by the one that is shown. */
const shown: fc.Arbitrary<readonly Shown[]> = fc.uniqueArray(
  fc.record({
    device: fc.constantFrom(...SHOWN),
    minute: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 1440 })),
    north: fc.integer({ min: -2, max: 2 }),
    east: fc.integer({ min: -2, max: 2 }),
    inFirst: offset,
    inSecond: offset,
  }),
  { selector: ({ device, minute }) => `${device} ${minute}`, minLength: 1, maxLength: 12 },
);

/**
 * What no link shows: other devices, and what was before. Never nothing: how many entries the log has is known to all,
 * as the ids of the live stream.
 */
const hidden = fc.array(
  fc.record({
    device_id: fc.constantFrom(...HIDDEN),
    user_id: fc.constantFrom("driver", "ada"),
    timestamp: fc.integer({ min: VIEWS_FROM_MS, max: NOON_MS }),
    latitude: fc.double({ min: 53.39, max: 53.41, noNaN: true }),
    longitude: fc.double({ min: -2.92, max: -2.88, noNaN: true }),
  }),
  { minLength: 1, maxLength: 6 },
);
const before = fc.array(
  fc.record({
    device_id: fc.constantFrom(...SHOWN),
    user_id: fc.constantFrom("driver", "ada"),
    timestamp: fc.integer({ min: VIEWS_FROM_MS - 2 * DAY_MS, max: VIEWS_FROM_MS - 1 }),
    latitude: fc.double({ min: 53.39, max: 53.41, noNaN: true }),
    longitude: fc.double({ min: -2.92, max: -2.88, noNaN: true }),
  }),
  { minLength: 1, maxLength: 4 },
);
/** What else a record has, in one service and the other; an exact link shows some of it. */
const traits = fc.record({
  user_id: fc.constantFrom("driver", "ada"),
  battery_level: fc.integer({ min: 0, max: 100 }),
  network_status: fc.boolean(),
  brand: fc.constantFrom("Fairphone", "Pixel"),
});
const motion = fc.record({
  speed: fc.integer({ min: 0, max: 40 }),
  bearing: fc.integer({ min: 0, max: 359 }),
  altitude: fc.integer({ min: 0, max: 99 }),
  horizontal_accuracy: fc.integer({ min: 1, max: 99 }),
});
const secrets = fc.record({ hidden, before, traits, motion });
type Secrets = typeof secrets extends fc.Arbitrary<infer Value> ? Value : never;

const grid = new Grid(CELL_METERS);

function place({ north, east }: Shown, at: Offset): { latitude: number; longitude: number } {
  const row = grid.centerOf(53.4 + north * HEIGHT_DEGREES, -2.9);
  const center = grid.centerOf(row.latitude, -2.9 + east * HEIGHT_DEGREES);
  const latitude = center.latitude + at.north * HEIGHT_DEGREES;
  const longitude = center.longitude + at.east * HEIGHT_DEGREES;
  expect(grid.centerOf(latitude, longitude)).toEqual(center);
  return { latitude, longitude };
}

function reportsOf(all: readonly Shown[], which: "inFirst" | "inSecond", { traits, motion }: Secrets) {
  return all.map((each) => {
    const timestamp = NOON_MS - each.minute * MINUTE_MS + each[which].ms;
    return { device_id: each.device, timestamp, ...place(each, each[which]), ...traits, ...motion };
  });
}

type Reports = ReturnType<typeof reportsOf>;

async function serviceWith(reports: Reports, { hidden, before }: Secrets): Promise<TestApp> {
  const app = await createTestApp();
  await app.store(before);
  await app.store(reports);
  await app.store(hidden);
  return app;
}

/** The same with what is sealed, what came late for it, and nothing that is new. */
async function archiveWith(reports: Reports, { hidden, before }: Secrets): Promise<ArchiveApp> {
  const app = await createArchiveApp({ startMs: NOON_MS });
  const half = Math.ceil(reports.length / 2);
  await app.store(before);
  await app.store(reports.slice(0, half));
  app.clock.advance(9 * DAY_MS);
  await app.seal();
  await app.store(reports.slice(half));
  await app.store(hidden);
  return app;
}

const answered = { requests: 0, found: 0 };

async function answersOf(app: TestApp, key: "viewer" | "blurredViewer", paths: readonly string[]) {
  const headers = { authorization: `Bearer ${app.keys[key]}`, "x-request-id": "same" };
  const answers: string[] = [];
  for (const path of paths) {
    const response = await app.fetch(path, { headers });
    const isBinary = response.headers.get("content-type")?.includes("tile") === true;
    const body = isBinary
      ? Buffer.from(await response.arrayBuffer()).toString("latin1")
      : await textOf(response);
    const text = body.replace(/"(query_time_ms|sequence)":[\d.e-]+|^id: \d+$/gm, "");
    const told = [...response.headers].filter(([name]) => !["etag", "content-length"].includes(name));
    answers.push(`${path}\n${response.status}\n${JSON.stringify(told)}\n${text}`);
    answered.requests++;
    if (response.status === 200 && /bus|ferry/.test(body)) answered.found++;
  }
  return answers;
}

/** Every endpoint that links open, about every device, and with each parameter that could tell services apart. */
function questions(...services: readonly Reports[]): readonly string[] {
  const near = services.flat();
  return OPENED.flatMap((endpoint) =>
    [...SHOWN, HIDDEN[0]!, "nobody"].flatMap((deviceId) => {
      if (!endpoint.path.includes(":deviceId") && deviceId !== SHOWN[0]) return [];
      return pathsTo(endpoint, deviceId, near);
    }),
  );
}

function pathsTo(endpoint: KeyedEndpoint, deviceId: string, near: Reports): readonly string[] {
  const { paths, queries } = probesOf(endpoint, near);
  const plain = paths.map((ids) => pathTo(endpoint, { deviceId, ...ids }));
  return [...plain, ...queries.map((query) => withQuery(plain[0]!, query))];
}

/** The path with these parameters, in place of those that it has. */
function withQuery(path: string, query: Readonly<Record<string, string | number>>): string {
  const url = new URL(path, "http://localhost");
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
  return `${url.pathname}${url.search}`;
}

test("a blurred link is answered the same bytes wherever in its cell, and whenever in its minute, a device is", async () => {
  await fc.assert(
    fc.asyncProperty(shown, secrets, secrets, async (all, first, second) => {
      const reports = [reportsOf(all, "inFirst", first), reportsOf(all, "inSecond", second)] as const;
      const services = [await serviceWith(reports[0], first), await serviceWith(reports[1], second)] as const;
      const paths = questions(...reports);
      const [ofFirst, ofSecond] = [
        await answersOf(services[0], "blurredViewer", paths),
        await answersOf(services[1], "blurredViewer", paths),
      ];
      expect(ofSecond).toEqual(ofFirst);
    }),
    { numRuns: RUNS },
  );
  expect(answered.found).toBeGreaterThan(answered.requests / 10);
});

test("and so it is where records are archived, or came late for what is", async () => {
  const foundBefore = answered.found;
  await fc.assert(
    fc.asyncProperty(shown, secrets, secrets, async (all, first, second) => {
      const reports = [reportsOf(all, "inFirst", first), reportsOf(all, "inSecond", second)] as const;
      const services = [await archiveWith(reports[0], first), await archiveWith(reports[1], second)] as const;
      try {
        const paths = questions(...reports).filter((path) => path.includes("/devices/"));
        const [ofFirst, ofSecond] = [
          await answersOf(services[0], "blurredViewer", paths),
          await answersOf(services[1], "blurredViewer", paths),
        ];
        expect(ofSecond).toEqual(ofFirst);
      } finally {
        for (const service of services) await service.close();
      }
    }),
    { numRuns: Math.ceil(RUNS / 12), endOnFailure: true }, // Opening archives takes too long to shrink.
  );
  expect(answered.found).toBeGreaterThan(foundBefore);
});

test("an exact link is answered the same bytes whatever is hidden from it", async () => {
  await fc.assert(
    fc.asyncProperty(shown, secrets, secrets, async (all, first, others) => {
      const second = { ...others, motion: first.motion };
      const reports = [reportsOf(all, "inFirst", first), reportsOf(all, "inFirst", second)] as const;
      const services = [await serviceWith(reports[0], first), await serviceWith(reports[1], second)] as const;
      const paths = questions(reports[0]);
      const [ofFirst, ofSecond] = [
        await answersOf(services[0], "viewer", paths),
        await answersOf(services[1], "viewer", paths),
      ];
      expect(ofSecond).toEqual(ofFirst);
    }),
    { numRuns: RUNS },
  );
});

test("the same questions tell an exact link where in its cell, or when in its minute, a device is", async () => {
  const record: Shown = {
    device: "bus",
    minute: 5,
    north: 0,
    east: 0,
    inFirst: at(0.1, 1),
    inSecond: at(0.2, 2),
  };
  const nothing = { hidden: [], before: [], traits: {}, motion: {} } as unknown as Secrets;
  const reports = [
    reportsOf([record], "inFirst", nothing),
    reportsOf([record], "inSecond", nothing),
  ] as const;
  const services = [await serviceWith(reports[0], nothing), await serviceWith(reports[1], nothing)] as const;
  for (const endpoint of OPENED) {
    const paths = pathsTo(endpoint, "bus", reports.flat());
    const [ofFirst, ofSecond] = [
      await answersOf(services[0], "viewer", paths),
      await answersOf(services[1], "viewer", paths),
    ];
    const told = ofFirst.filter((answer, index) => answer !== ofSecond[index]);
    expect([nameOf(endpoint), told.length > 0]).toEqual([nameOf(endpoint), true]);
  }
});

function at(part: number, ms: number): Offset {
  return { north: part, east: part, ms };
}

test("the tag of an answer stays while others report, and is no other link's", async () => {
  for (const endpoint of OPENED.filter(({ isTagged }) => isTagged)) {
    const app = await createTestApp();
    const bus = { device_id: "bus", timestamp: NOON_MS - MINUTE_MS, latitude: 53.4, longitude: -2.9 };
    await app.store([bus]);
    const path = pathsTo(endpoint, "bus", [bus as Reports[number]])[0]!;
    const ask = (key: "viewer" | "blurredViewer" | "full", tag: string) =>
      app.fetch(path, { headers: { authorization: `Bearer ${app.keys[key]}`, "if-none-match": tag } });
    const tag = (await ask("viewer", "")).headers.get("etag")!;
    await app.store([{ ...bus, device_id: "tram" }]);
    expect([nameOf(endpoint), (await ask("viewer", tag)).status]).toEqual([nameOf(endpoint), 304]);
    expect((await ask("blurredViewer", tag)).status).toBe(200);
    expect((await ask("full", tag)).status).toBe(200);
    await app.store([{ ...bus, timestamp: NOON_MS }]);
    expect([nameOf(endpoint), (await ask("viewer", tag)).status]).toEqual([nameOf(endpoint), 200]);
  }
});

test("the tag of an answer stays while a device that it doesn't show yet reports", async () => {
  for (const endpoint of OPENED.filter(({ isTagged }) => isTagged)) {
    const app = await createTestApp();
    const early = { device_id: "ferry", timestamp: VIEWS_FROM_MS - 2, latitude: 53.4, longitude: -2.9 };
    const bus = { ...early, device_id: "bus", timestamp: NOON_MS - MINUTE_MS };
    await app.store([bus, early]);
    const path = pathsTo(endpoint, "bus", [bus as Reports[number]])[0]!;
    const ask = (tag: string) =>
      app.fetch(path, { headers: { authorization: `Bearer ${app.keys.viewer}`, "if-none-match": tag } });
    const tag = (await ask("")).headers.get("etag")!;
    await app.store([{ ...early, timestamp: VIEWS_FROM_MS - 1 }]);
    expect([nameOf(endpoint), (await ask(tag)).status]).toEqual([nameOf(endpoint), 304]);
  }
});
