import { afterAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeAcknowledged } from "../../../../src/directory/damaged-files.ts";
import type { StartHelper } from "../../../../src/runtime/helper/helper.ts";
import { startHelper } from "../../../../src/runtime/helper/spawn-helper.ts";
import { createNodeFiles } from "../../../../src/runtime/node-files.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";

/* What HEAD says of a file is what GET says, and begins nothing. */

afterAll(removeArchiveApps);

const PLACE = { latitude: 1, longitude: 2 };
const PATH = "/api/v1/export?start_date=2026-01-01&end_date=2026-01-28";

/** An app with an archived day, and how many processes make its exports. */
async function openWith(): Promise<{ readonly app: ArchiveApp; readonly made: { count: number } }> {
  const made = { count: 0 };
  const counted: StartHelper = (script, events) => {
    if (script.pathname.endsWith("export-maker.ts")) made.count++;
    return startHelper(script, events);
  };
  const app = await createArchiveApp({ disk: { files: createNodeFiles(), startHelper: counted } });
  await app.store([{ ...PLACE, device_id: "bus-1", timestamp: Date.UTC(2026, 0, 14), speed: 3 }]);
  await app.seal();
  return { app, made };
}

/** The archived day's file. */
function partOf(app: ArchiveApp): string {
  return [...app.directory.archive.manifest.days.values()].flatMap(({ parts }) => parts)[0]!.file;
}

function damage(app: ArchiveApp): void {
  const path = join(app.dataDir, "archive", partOf(app));
  const bytes = readFileSync(path);
  bytes[bytes.length >> 1]! ^= 4;
  writeFileSync(path, bytes);
}

/** Everything but what says when, and how the body is framed. */
function headersOf({ status, headers }: Response): unknown {
  return [status, [...headers].filter(([name]) => !["content-length", "transfer-encoding"].includes(name))];
}

test("HEAD has the headers of GET, makes no file, and asks no process to", async () => {
  const { app, made } = await openWith();
  const ask = (path: string, method: string, coding: string) =>
    app.fetch(path, {
      method,
      headers: {
        authorization: `Bearer ${app.keys.full}`,
        "x-request-id": "same",
        "accept-encoding": coding,
      },
    });
  const asked = ["", "&format=parquet", "&format=kmz", "&device_id=nobody", "&format=pdf"].flatMap((query) =>
    ["identity", "gzip"].map((coding) => [PATH + query, coding] as const),
  );
  const heads: Response[] = [];
  for (const [path, coding] of asked) heads.push(await ask(path, "HEAD", coding));
  for (const head of heads) expect(await head.text()).toBe("");
  expect(app.directory.exports.running).toBe(0);
  expect(made.count).toBe(0);
  for (const [index, [path, coding]] of asked.entries()) {
    const get = await ask(path, "GET", coding);
    await get.arrayBuffer();
    expect(headersOf(heads[index]!)).toEqual(headersOf(get));
  }
  await app.close();
});

test("HEAD says what is known to be lost as GET does", async () => {
  const { app } = await openWith();
  const ask = (method: string) =>
    app.fetch(PATH, {
      method,
      headers: { authorization: `Bearer ${app.keys.full}`, "x-request-id": "same" },
    });
  damage(app);
  const found = await ask("GET"); // Which finds it.
  expect(found.status).toBe(500);
  expect(headersOf(await ask("HEAD"))).toEqual(headersOf(await ask("GET")));
  await writeAcknowledged(createNodeFiles(), join(app.dataDir, "damaged"), [{ name: partOf(app), bytes: 1 }]);
  const incomplete = await ask("HEAD");
  expect(incomplete.headers.get("wherehouse-incomplete")).toBe("true");
  expect(headersOf(incomplete)).toEqual(headersOf(await ask("GET")));
  await app.close();
});

test("originals are for keys that may correct, and have devices all of whose records are hidden", async () => {
  const { app } = await openWith();
  await app.store([{ ...PLACE, device_id: "bus-1", timestamp: Date.UTC(2026, 0, 27) }]);
  const headers = { authorization: `Bearer ${app.keys.full}`, "content-type": "application/json" };
  const timestamps = [Date.UTC(2026, 0, 14), Date.UTC(2026, 0, 27)];
  const body = JSON.stringify({ action: "hide", device_id: "bus-1", timestamps });
  const init = { method: "POST", headers, body };
  expect((await app.fetch("/api/v1/corrections", init)).status).toBe(200);
  // A late report of the archived one.
  await app.store([{ ...PLACE, device_id: "bus-1", timestamp: timestamps[0], speed: 7 }]);
  const ask = async (query: string, key: "full" | "reader" | "editor" = "full") => {
    const response = await app.fetch(PATH + query, { headers: { authorization: `Bearer ${app.keys[key]}` } });
    const text = await response.text();
    return { status: response.status, text };
  };
  const lines = ({ text }: { text: string }) =>
    text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line).timestamp);
  expect(lines(await ask(""))).toEqual([]);
  expect(lines(await ask("&originals=true"))).toEqual(timestamps);
  expect(lines(await ask("&originals=true&device_id=bus-1"))).toEqual(timestamps);
  for (const query of ["&originals=true", "&originals=true&device_id=bus-1"])
    expect((await ask(query)).text).toContain('"speed":7');
  const track = await ask("&originals=true&format=gpx");
  expect(track.text).toContain("<gpxtpx:speed>7<");
  expect((await ask("&device_id=bus-1")).status).toBe(404);
  expect((await ask("&originals=true&device_id=bus-2")).status).toBe(404);
  expect(lines(await ask("&originals=false", "reader"))).toEqual([]);
  for (const key of ["reader", "editor"] as const) {
    const { status, text } = await ask("&originals=true", key);
    expect([status, text.includes("INSUFFICIENT_PERMISSIONS")]).toEqual([403, true]);
  }
  await app.close();
});
