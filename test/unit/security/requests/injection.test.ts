import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { LOCATION_FIELDS } from "../../../../src/model/location-fields.ts";
import {
  type ArchiveApp,
  createArchiveApp,
  removeArchiveApps,
  temporaryDataDir,
} from "../../../support/archive-app.ts";
import type { JsonObject } from "../../../support/test-app.ts";
import { INGEST_PATH } from "../../http/requests.ts";
import { NASTY_TEXTS, REFUSED_TEXTS } from "../support/nasty-texts.ts";
import { OPERATIONS, plainPath } from "../support/operations.ts";

/*
 * Goal: a text is a text, whatever it would mean to SQL, CSV, Parquet, JSON or a file system. Method: texts that
 * mean something there, in every field that takes texts, through log, memory, a seal, a restart and the archive;
 * and data directories with names of that kind.
 */

afterAll(removeArchiveApps);

const MS_PER_DAY = 86_400_000;
const TEXT_FIELDS = LOCATION_FIELDS.filter(
  (field) => field.type === "string" && field.column !== "derived" && !("pattern" in field),
).map(({ name }) => name);
const WIDE = "start_date=2026-01-01&end_date=2026-01-28&limit=1000";

/** One report for each text, which is in every field that takes texts; each device reports once. */
function reportsOf(texts: readonly string[], nowMs: number) {
  return texts.map((text, index) => ({
    ...Object.fromEntries(TEXT_FIELDS.map((name) => [name, text])),
    device_id: text,
    timestamp: nowMs - 12 * MS_PER_DAY - index,
    latitude: 53.4,
    longitude: -2.9,
  }));
}

describe("texts of every field", () => {
  /** Those that ids may be: no path can name a device "..". */
  const usable = NASTY_TEXTS.filter((text) => text.trim() !== "" && text !== "..");

  /** Answers by `devices TEXT`, `users TEXT` and `all`: the status, and the records. */
  async function histories(app: ArchiveApp): Promise<Map<string, [number, readonly JsonObject[]]>> {
    const found = new Map<string, [number, readonly JsonObject[]]>();
    const ask = async (name: string, path: string) => {
      const { status, body } = await app.get(`${path}/locations/history?${WIDE}`);
      found.set(name, [status, body.locations]);
    };
    for (const text of usable) {
      for (const kind of ["devices", "users"]) {
        await ask(`${kind} ${text}`, `/api/v1/${kind}/${encodeURIComponent(text)}`);
      }
    }
    await ask("all", "/api/v1");
    return found;
  }

  test("come back to the letter from memory, from the archive and after a restart", async () => {
    const app = await createArchiveApp();
    const reports = reportsOf(usable, app.clock.nowMs());
    await app.store(reports);
    const fromMemory = await histories(app);
    expect(fromMemory.get("all")![1]).toHaveLength(usable.length);
    for (const [index, text] of usable.entries()) {
      expect(fromMemory.get(`devices ${text}`)).toMatchObject([200, [reports[index]!]]);
      expect(fromMemory.get(`users ${text}`)).toMatchObject([200, [{ device_id: text }]]);
    }

    expect((await app.seal()).days.length).toBeGreaterThan(0);
    expect(app.directory.hot.recordCount).toBe(0);
    expect(await histories(app)).toEqual(fromMemory);

    const again = await app.restart();
    expect(await histories(again)).toEqual(fromMemory);
    // Late records of the same instants are laid over, and folded in.
    await again.store(reports.map((report) => ({ ...report, speed: 1.5 })));
    const late = await histories(again);
    expect(JSON.stringify([...late]).match(/"speed":1\.5/g)?.length).toBeGreaterThan(usable.length);
    await again.seal();
    expect(await histories(again)).toEqual(late);
    expect(again.notes).toEqual([]);
    expect(again.faults).toEqual([]);
    await again.close();
  });

  test("leave no file that is named after them", async () => {
    const app = await createArchiveApp();
    await app.store(reportsOf(usable, app.clock.nowMs()));
    await app.seal();
    const names = readdirSync(app.dataDir, { recursive: true, encoding: "utf8" });
    for (const name of names) {
      expect(name).toMatch(
        /^(wal|archive|events|damaged|keys\.json|lock)(\/(latest|expired|scratch|day=\d{4}-\d\d-\d\d|\d{20}\.wal|manifest\.json|events\.sqlite(-wal|-shm)?)(\/[\w.-]+)?)?$/,
      );
    }
    await app.close();
  });

  test.each(REFUSED_TEXTS)("%j is refused in each field, and nothing of it is kept", async (text) => {
    const app = await createArchiveApp();
    for (const name of TEXT_FIELDS) {
      const report = {
        device_id: "bus",
        timestamp: app.clock.nowMs(),
        latitude: 1,
        longitude: 2,
        [name]: text,
      };
      const { status, body } = await app.post([report]);
      expect([status, body.accepted, body.rejected.length]).toEqual([200, 0, 1]);
      expect(body.rejected[0]!.message).toMatch(
        new RegExp(`^${name} must (not contain control|be valid Unicode)`),
      );
    }
    expect(app.directory.hot.recordCount).toBe(0);
    await app.close();
  });
});

/** Any text may be an id, a tag or a part of a name. */
const FREE_TEXTS = new Set(["device_id", "user_id", "text", "tag"]);

/** A refusal names the words that may be given, and one of them begins with a text that may not. */
const NAMED_WORDS = /\b[a-z]+_[a-z]+\b/g;

/** Who may not ask is not told what is wrong with the question. */
const FOR_OTHERS = /^\/(metrics|api\/v1\/(service\/copy|erasures))/;

describe("texts of queries", () => {
  test("that are no zone, date, number or word are refused, and say themselves back as JSON alone", async () => {
    const app = await createArchiveApp();
    for (const named of OPERATIONS.filter(({ method }) => method === "GET")) {
      for (const { name, in: place } of named.operation.parameters ?? []) {
        if (place !== "query" || FREE_TEXTS.has(name)) continue;
        for (const text of [
          ...NASTY_TEXTS.filter((each) => !isValue(each)),
          ...REFUSED_TEXTS.map((each) => each.toWellFormed()),
        ]) {
          const plain = plainPath(named, "bus", "driver").replace(new RegExp(`${name}=[^&]*`), "");
          const path = `${plain}${plain.includes("?") ? "&" : "?"}${name}=${encodeURIComponent(text)}`;
          const response = await app.fetch(path, { headers: { authorization: `Bearer ${app.keys.full}` } });
          expect(response.status, path).toBe(FOR_OTHERS.test(named.path) ? 403 : 400);
          expect(response.headers.get("content-type")).toBe("application/json");
          const body = (await response.json()) as { message: string };
          if (name === "timezone") expect(body.message).toBe(`Invalid timezone: ${text}`);
          else
            expect(body.message.replaceAll(NAMED_WORDS, "")).not.toContain(text.length > 3 ? text : "\u0000");
        }
      }
    }
    expect(app.faults).toEqual([]);
    await app.close();
  });

  /** Of some parameter. */
  function isValue(text: string): boolean {
    return ["true", "0", "-0"].includes(text);
  }
});

describe("data directories", () => {
  const NAMES = [
    "it's",
    'a "b"',
    "[x]",
    "[a-z]*",
    "*",
    "?",
    "{a,b}",
    "day=2026-01-01",
    " lead and trail ",
    "\u00fcn\u00ef \u{1f68c}",
  ].concat([
    "%41",
    "$HOME",
    "`id`",
    "a;b",
    "a,b",
    "back\\slash",
    "line\nbreak",
    "#",
    "~",
    "'; DROP TABLE staged; --",
    "...",
  ]);

  test.each(NAMES)(
    "named %j hold an archive like any other, and nothing is written beside them",
    async (name) => {
      const parent = temporaryDataDir();
      const dataDir = join(parent, name);
      mkdirSync(dataDir);
      const app = await createArchiveApp({ dataDir });
      const reports = reportsOf(["bus", "O'Hara"], app.clock.nowMs());
      await app.store(reports);
      await app.seal();
      expect(app.directory.hot.recordCount).toBe(0);
      await app.store([{ ...reports[0]!, speed: 2 }]);
      await app.seal();
      const again = await app.restart();
      const { body } = await again.get(`/api/v1/devices/bus/locations/history?${WIDE}`);
      expect(body.locations).toMatchObject([{ ...reports[0]!, speed: 2 }]);
      expect(readdirSync(parent)).toEqual([name]);
      expect(again.notes).toEqual([]);
      await again.close();
    },
  );
});

test("a data directory that a link leads to holds an archive like any other", async () => {
  const parent = temporaryDataDir();
  mkdirSync(join(parent, "disk", "data"), { recursive: true });
  symlinkSync(join(parent, "disk"), join(parent, "link"));
  const app = await createArchiveApp({ dataDir: join(parent, "link", "data") });
  const reports = reportsOf(["bus"], app.clock.nowMs());
  await app.store(reports);
  await app.seal();
  expect(app.directory.hot.recordCount).toBe(0);
  const { status, body } = await app.get(`/api/v1/devices/bus/locations/history?${WIDE}`);
  expect([status, body.locations]).toMatchObject([200, [reports[0]!]]);
  expect([app.notes, app.faults]).toEqual([[], []]);
  await app.close();
});

test("a body's text reaches no place but its field: the log's and archive's files hold it as data", async () => {
  const app = await createArchiveApp();
  const response = await app.fetch(INGEST_PATH, {
    method: "POST",
    headers: { authorization: `Bearer ${app.keys.full}`, "content-type": "application/x-ndjson" },
    body: '{"device_id":"a\\u0022,\\u0022b","timestamp":1768000000000,"latitude":1,"longitude":2,"brand":"x\\u0022\\u002c9\\u002c\\u0022"}',
  });
  expect(await response.json()).toMatchObject({ accepted: 1 });
  await app.seal();
  const { body } = await app.get(`/api/v1/devices/${encodeURIComponent('a","b')}/locations/history?${WIDE}`);
  expect(body.locations).toMatchObject([{ device_id: 'a","b', brand: 'x",9,"' }]);
  await app.close();
});
