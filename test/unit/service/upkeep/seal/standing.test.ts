import { afterAll, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseManifest } from "../../../../../src/archive/manifest.ts";
import type { AppId, DeviceId } from "../../../../../src/model/ids.ts";
import { profileOf } from "../../../../reference/profiles.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../../support/archive-app.ts";
import { verifyDirectory } from "../../../../support/verify-directory.ts";

/* Seals write the profiles of devices into a file of the archive, from which a start restores them. */

afterAll(removeArchiveApps);

const APP = "fleet" as AppId;
const NAMES = ["a", "b", "c"];

async function named(names: readonly string[] = NAMES): Promise<ArchiveApp> {
  const app = await createArchiveApp();
  for (const name of names) await setName(app, name);
  return app;
}

async function setName(app: ArchiveApp, name: string | null, device = name): Promise<void> {
  const profile = name === null ? null : profileOf({ name });
  expect((await app.directory.editProfile(APP, device as DeviceId, profile)).ok).toBe(true);
}

async function namesOf(app: ArchiveApp): Promise<unknown[]> {
  return (await app.get("/api/v1/devices")).body.devices.map(({ name }) => name);
}

const standingIn = ({ dataDir }: ArchiveApp) => readdirSync(join(dataDir, "archive", "standing"));
const segmentsIn = ({ dataDir }: ArchiveApp) => readdirSync(join(dataDir, "wal"));

function manifestOf({ dataDir }: ArchiveApp) {
  const manifest = parseManifest(readFileSync(join(dataDir, "archive", "manifest.json")));
  if (!manifest.ok) throw new Error(manifest.error.kind);
  return manifest.value;
}

test("a seal writes what stands into one file, the log gives it up, and a start has it from there", async () => {
  let app = await named();
  await app.seal();
  expect(standingIn(app)).toEqual(["00000001.entries"]);
  expect(manifestOf(app).standing).toMatchObject({ file: "standing/00000001.entries", rows: 3, sequence: 3 });
  app = await app.restart();
  await app.seal(); // The segment of the first run is closed by now, and covered.
  expect(standingIn(app)).toEqual(["00000001.entries"]);
  await setName(app, "d");
  app = await app.restart();
  await app.seal();
  expect(standingIn(app)).toEqual(["00000002.entries"]);
  expect(segmentsIn(app).length).toBe(1);
  app = await app.restart();
  expect(app.directory.recovery.entries).toBeLessThan(4);
  expect(await namesOf(app)).toEqual(["a", "b", "c", "d"]);
  for (const name of ["a", "b", "c", "d"]) await setName(app, null, name);
  await app.seal();
  expect(manifestOf(app).standing).toMatchObject({ rows: 0, sequence: 8 });
  app = await app.restart();
  expect([await namesOf(app), app.notes]).toEqual([[], []]);
  await app.close();
});

test("a damaged file costs the profiles in the damage, stays for an operator, and the next seal writes another", async () => {
  let app = await named();
  await app.seal();
  await setName(app, "later");
  const file = join(app.dataDir, "archive", "standing", "00000001.entries");
  await app.close();
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.with(bytes.length - 9, bytes.at(-9)! ^ 1));
  const fault = "archive/standing/00000001.entries: its checksum does not match";
  expect((await verifyDirectory(app.dataDir, app.clock)).problems).toEqual([fault]);

  app = await createArchiveApp({ clock: app.clock, dataDir: app.dataDir });
  expect(app.notes).toEqual([
    "archive/standing/00000001.entries is damaged: its checksum does not match. Profiles of devices, corrections, " +
      "and how often messages of the quarantine came, are missing.",
  ]);
  expect(await namesOf(app)).toEqual(["a", "b", "later"]);
  await app.seal();
  expect(standingIn(app)).toEqual(["00000002.entries"]);
  expect(readdirSync(join(app.dataDir, "damaged"))).toEqual(["standing-00000001.entries.damaged"]);
  app = await app.restart();
  expect([await namesOf(app), app.notes]).toEqual([["a", "b", "later"], []]);
  await app.close();
});

test("a lost manifest is rebuilt with the newest file that is whole", async () => {
  let app = await named();
  await app.seal();
  await app.close();
  const archive = join(app.dataDir, "archive");
  writeFileSync(join(archive, "standing", "00000009.entries"), "half of a file");
  rmSync(join(archive, "manifest.json"));
  rmSync(join(app.dataDir, "wal"), { recursive: true });
  app = await createArchiveApp({ clock: app.clock, dataDir: app.dataDir });
  expect(app.notes).toEqual(
    [
      "archive/standing/00000009.entries can't be read. The new manifest does not include it.",
      "The archive's manifest is missing. It was rebuilt from the files.",
    ].toReversed(),
  );
  expect(await namesOf(app)).toEqual(NAMES);
  expect(app.directory.log.lastSequence).toBe(3); // No sequence is used twice.
  await app.close();
});

test("what a first seal wrote before it was cut off outlives the next seal", async () => {
  let app = await named();
  await app.seal();
  await app.close();
  rmSync(join(app.dataDir, "archive", "manifest.json")); // The seal was cut off before it.
  app = await createArchiveApp({ clock: app.clock, dataDir: app.dataDir });
  await setName(app, "d");
  await app.seal();
  app = await app.restart();
  expect([await namesOf(app), app.directory.archive.damaged.size]).toEqual([["a", "b", "c", "d"], 0]);
  await app.close();
});
