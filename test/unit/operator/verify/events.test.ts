import { afterAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FormatVersionError } from "../../../../src/lib/text/versioned-json.ts";
import { createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import { putAll, revisionAt } from "../../../support/geofences/test-events.ts";
import { rejection } from "../../../support/rejection.ts";
import { verifyDirectory } from "../../../support/verify-directory.ts";

/* The database of events of a real directory, as `verify` sees it. */

afterAll(removeArchiveApps);

test("verify counts events beside a server, finds a damaged page, and refuses another version", async () => {
  const app = await createArchiveApp();
  const { dataDir, clock } = app;
  const path = join(dataDir, "events/events.sqlite");
  const { eventStore } = app.directory;
  for (let round = 0; round < 20; round++)
    putAll(
      eventStore,
      Array.from({ length: 50 }, (_, i) => revisionAt(round, `${i}`, {}, { isWithdrawn: i === 0 })),
    );
  const { events, problems } = await verifyDirectory(dataDir, clock);
  expect([events, problems]).toEqual([{ events: 1000, withdrawn: 20, problems: [] }, []]);
  await app.close();
  const bytes = readFileSync(path);
  const damaged = Buffer.from(bytes);
  damaged.fill(0xff, 4096 * 9, 4096 * 10);
  writeFileSync(path, damaged);
  for (const quick of [true, false]) {
    const report = await verifyDirectory(dataDir, clock, { quick });
    expect(report.events.problems.length).toBeGreaterThan(0);
    expect(report.problems).toEqual([...report.events.problems]);
    expect(report.problems[0]).toStartWith(`${path}: `);
  }
  bytes.writeUInt32BE(9, 60); // The version, where SQLite has it.
  writeFileSync(path, bytes);
  expect(await rejection(verifyDirectory(dataDir, clock))).toBeInstanceOf(FormatVersionError);
});
