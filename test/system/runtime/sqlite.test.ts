import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { APP, openEvents } from "../../support/geofences/test-events.ts";
import { nativeDeno } from "../../support/native-deno.ts";

/*
 * Goal: what a transaction has committed is there after the process was killed, and never a part of one.
 * Method: real processes of both runtimes, one after the other on one file, taken down with SIGKILL.
 */
const USER = join(import.meta.dir, "sqlite-user.ts");
const RUNTIMES = { Bun: [process.execPath, USER], Deno: [nativeDeno(), "run", "-A", USER] };

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "wherehouse-sqlite-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

test("a killed process leaves all events and the position of each transaction that it committed", async () => {
  const path = join(directory, "events.sqlite");
  let toldMin = 0;
  for (const command of [RUNTIMES.Bun, RUNTIMES.Deno, RUNTIMES.Bun]) {
    const told = await writeUntil(command, path, toldMin + 1500);
    const events = openEvents(path);
    const position = events.position();
    expect(position).toBeGreaterThanOrEqual(told);
    const last = events.after(APP, 0, position * 3 + 1).map(({ event }) => event.timestampMs);
    expect(last).toEqual(Array.from({ length: position * 3 }, (_, index) => Math.floor(index / 3) + 1));
    expect(events.database.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
    events.close();
    toldMin = told;
  }
}, 30_000);

/** Kills the process once it has said this position, and returns the last one that it said. */
async function writeUntil(command: readonly string[], path: string, position: number): Promise<number> {
  const child = Bun.spawn([...command, path], { stdout: "pipe", stderr: "inherit" });
  let text = "";
  let told = 0;
  for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += piece;
    const lines = text.split("\n");
    text = lines.pop()!;
    told = Number(lines.at(-1) ?? told);
    if (told >= position) child.kill("SIGKILL");
  }
  await child.exited;
  return told;
}
