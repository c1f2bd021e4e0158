import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "../../support/fast-check.ts";
import { SAMPLES } from "../../support/formats/read-file.ts";
import { RUNTIMES, type Runtime } from "../../support/server-process.ts";
import {
  countsOf,
  daysOf,
  type Group,
  groupsOf,
  keepForever,
  layOutSamples,
  OPTIONS,
} from "../../unit/cli/support/imports.ts";
import { runCli, withDirectory } from "../../unit/cli/support/run-cli.ts";
import { pause } from "../support/pause.ts";
import { finished, startCli } from "./support/start-cli.ts";

/* Imports that are killed on their way, and those of the other runtime. */

/** Runs a command under a runtime, with all that a directory holds within its reach. */
async function run({ command }: Runtime, directory: string, ...args: string[]) {
  const child = Bun.spawn([...command({ directory, files: [SAMPLES] }), ...args], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, WHEREHOUSE_DATA_DIR: undefined, WHEREHOUSE_KEY: undefined },
  });
  return finished(child);
}

test("every sample gives the same records on either runtime", () =>
  withDirectory(async (directory) => {
    const folder = layOutSamples(directory);
    const imported: unknown[] = [];
    for (const runtime of RUNTIMES) {
      const dataDir = join(directory, runtime.name);
      await keepForever(dataDir);
      const first = await run(runtime, directory, "import", folder, ...OPTIONS, "--data-dir", dataDir);
      expect(first).toMatchObject({ code: 1 }); // Of the file that is cut off in the middle.
      const days = await daysOf(dataDir);
      await run(runtime, directory, "import", folder, ...OPTIONS, "--data-dir", dataDir);
      expect(await daysOf(dataDir)).toEqual(days);
      imported.push({ days, counts: groupsOf(first).map(countsOf) });
    }
    for (const other of imported.slice(1)) expect(other).toEqual(imported[0]);
  }));

/** GeoJSON lines of a device that moves, some of which can't be used. */
function trackLines(name: string, points: number, startMs: number): string {
  return Array.from({ length: points }, (_, i) => {
    const coordinates = i % 7 === 3 ? [0, 0] : [13 + i / 1e5, 52 + i / 1e6];
    const properties = {
      timestamp: new Date(startMs + i * 1000).toISOString(),
      device_id: `${name}-${i % 3}`,
    };
    return `${JSON.stringify({ type: "Feature", geometry: { type: "Point", coordinates }, properties })}\n`;
  }).join("");
}

test("killed anywhere and begun again until it is through, it gives what it gives at once", () =>
  withDirectory(async (directory) => {
    const folder = join(directory, "files");
    mkdirSync(folder);
    const startMs = Date.now() - 5 * 86_400_000;
    for (const [index, name] of ["a", "b", "c"].entries())
      writeFileSync(join(folder, `${name}.geojsonl`), trackLines(name, 25_000, startMs + index * 1000));
    const args = ["import", folder, "--app", "shop", "--json", "--data-dir"];
    const once = join(directory, "once");
    const whole = await runCli(...args, once);
    expect(whole.code).toBe(0);
    const days = await daysOf(once);
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 300, max: 1800 }), { maxLength: 4 }), async (killsMs) => {
        const dataDir = join(directory, `run-${runs++}`);
        for (const killMs of killsMs) {
          const child = startCli([...args, dataDir]);
          await Promise.race([pause(killMs), child.exited]);
          child.kill("SIGKILL");
          await finished(child);
        }
        const last = await runCli(...args, dataDir);
        expect(last.code).toBe(0);
        const counts = (of: { readonly out: string }) =>
          groupsOf(of).map(({ read, new: taken, already_there, same_time, skips }: Group) => [
            read,
            taken + already_there + same_time,
            skips,
          ]);
        expect(counts(last)).toEqual(counts(whole));
        expect(await daysOf(dataDir)).toEqual(days);
      }),
      { numRuns: 4 },
    );
  }));
