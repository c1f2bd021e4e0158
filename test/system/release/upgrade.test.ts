import { afterEach, beforeEach, expect } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../../package.json" with { type: "json" };
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  runCommand,
  startReady,
} from "../../support/server-process.ts";
import { test } from "../support/process-test.ts";
import { askAll, DIRECTORY_FILE, readAnswers, UPGRADES } from "./upgrade-answers.ts";

/*
 * Goal: a directory of every release answers as it did then. Method: a server starts on a copy of it, also after the
 * rest was archived. make-upgrade.ts makes the fixtures, and says when one may be made anew.
 */

const RELEASES = readdirSync(UPGRADES);

let place: Place;
beforeEach(() => {
  place = openPlace();
});
afterEach(() => closePlace(place));

test("this version has a fixture", () => {
  expect(RELEASES).toContain(manifest.version);
});

for (const release of RELEASES) {
  test(`a directory of ${release} answers as it did, before and after a seal`, async () => {
    const { key, bodies } = readAnswers(release);
    mkdirSync(place.dataDir, { mode: 0o700 });
    const file = join(UPGRADES, release, DIRECTORY_FILE);
    expect(spawnSync("tar", ["-xzf", file, "-C", place.dataDir]).status).toBe(0);
    const runtime = RUNTIMES[0]!;
    for (const isSealed of [false, true]) {
      if (isSealed) {
        const sealed = await runCommand(runtime, place, ["seal"]);
        expect([sealed.code, sealed.error]).toEqual([0, ""]);
      }
      const server = await startReady(runtime, place, ["--seal-every", "24d"]);
      expect(await askAll({ url: server.url, key }, Object.keys(bodies))).toEqual(bodies);
      await server.stop();
    }
    const verified = await runCommand(runtime, place, ["verify"]);
    expect([verified.code, verified.out + verified.error]).toEqual([
      0,
      expect.stringContaining("Nothing is damaged."),
    ]);
  });
}
