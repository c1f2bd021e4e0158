import { afterAll, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AppId } from "../../../../../src/model/ids.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../../support/archive-app.ts";
import { verifyDirectory } from "../../../../support/verify-directory.ts";
import { ANY, APP, bodies, refused } from "../../quarantine/fixture.ts";

/* Seals sync the files of the quarantine, and note what these don't tell, before the log may drop its entries. */

afterAll(removeArchiveApps);

const filesIn = ({ dataDir }: ArchiveApp) =>
  readdirSync(join(dataDir, "quarantine"))
    .filter((name) => name.endsWith(".message"))
    .sort();
const countsOf = ({ directory }: ArchiveApp) =>
  directory.quarantine.list(APP, ANY, 0, 100).entries.map(({ deviceId, count }) => `${deviceId} ${count}`);

test("messages outlast seals and restarts, with how often they came, and the log gives them up", async () => {
  let app = await createArchiveApp();
  await app.directory.quarantine.put(["a", "b", "c"].map((body) => refused(body)));
  await app.directory.quarantine.put([refused("b")]);
  app = await app.restart();
  expect(countsOf(app)).toEqual(["c 1", "b 2", "a 1"]);
  await app.seal();
  await app.directory.quarantine.put([refused("d")]);
  app = await app.restart(); // The segment of the first run is closed by now, and covered.
  await app.seal();
  app = await app.restart();
  expect(app.directory.recovery.entries).toBeLessThan(2);
  expect(countsOf(app)).toEqual(["d 1", "c 1", "b 2", "a 1"]);
  const [, , b] = app.directory.quarantine.list(APP, ANY, 0, 100).entries;
  expect(await app.directory.quarantine.delete(APP, [b!.id])).toEqual({ ok: true, value: 1 });
  app = await app.restart();
  await app.seal();
  expect([await bodies(app.directory), filesIn(app).length]).toEqual([["d", "c", "a"], 3]);
  const verified = await verifyDirectory(app.dataDir, app.clock);
  expect(verified).toMatchObject({ quarantine: { entries: 3, problems: [] }, problems: [] });
  await app.close();
});

test("a damaged message is named once the archive covers it, and a start moves it aside", async () => {
  let app = await createArchiveApp();
  await app.directory.quarantine.put(["a", "b"].map((body) => refused(body)));
  await app.seal();
  await app.close();
  const path = join(app.dataDir, "quarantine", filesIn(app)[0]!);
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.with(60, bytes[60]! ^ 1));
  const { problems } = await verifyDirectory(app.dataDir, app.clock);
  expect(problems).toEqual([`${path}: ${bytes.length} damaged bytes at 0`]);
  app = await createArchiveApp({ clock: app.clock, dataDir: app.dataDir });
  expect(app.directory.damage).toMatchObject([{ file: path }]);
  expect(await bodies(app.directory)).toEqual(["b"]);
  await app.close();
});

test("a message is there once, however often the log is replayed, and of its own app alone", async () => {
  let app = await createArchiveApp();
  await app.directory.quarantine.put([refused("a")]);
  await app.directory.quarantine.put([refused("b", { appId: "rival" as AppId })]);
  await app.directory.quarantine.put([refused("a")]);
  app = await app.restart();
  app = await app.restart();
  expect(countsOf(app)).toEqual(["a 2"]);
  await app.close();
});
