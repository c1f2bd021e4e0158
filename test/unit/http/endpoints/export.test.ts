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
