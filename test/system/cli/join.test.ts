import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { removeArchiveApps, temporaryDataDir } from "../../support/archive-app.ts";
import { finished } from "./support/start-cli.ts";

/** How much memory `join` takes, on either side. */

afterAll(removeArchiveApps);

const SUPPORT = join(import.meta.dir, "support");

const HUGE_BYTES = 1_200_000_000;
/** What either process may take for it, most of it code, and pieces that nobody has collected yet. */
const ROOM_BYTES = HUGE_BYTES / 2;

/** A program in a process of its own, which tells at the end how much its memory grew. */
function startMeasured(script: string, ...args: readonly string[]) {
  const command = [process.execPath, "--preload", join(SUPPORT, "print-memory.ts"), script, ...args];
  return Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "pipe" });
}

test("a huge part passes through both processes a piece at a time", async () => {
  const dataDir = join(temporaryDataDir(), "node");
  const server = startMeasured(join(SUPPORT, "serve-huge-copy.ts"), String(HUGE_BYTES));
  const { value } = await server.stdout.getReader().read();
  const { url, key } = JSON.parse(new TextDecoder().decode(value));
  const words = ["join", url, "--key", key, "--data-dir", dataDir, "--json"];
  const joined = await finished(startMeasured(join(SUPPORT, "../../../../src/main.ts"), ...words));
  server.stdin.end();
  const served = await new Response(server.stderr).text();
  expect(joined.error).toMatch(/^\d+\n$/);
  expect(JSON.parse(joined.out).bytes).toBeGreaterThan(HUGE_BYTES);
  expect(Number(joined.error)).toBeWithin(1, ROOM_BYTES);
  expect(Number(served.trim().split("\n").at(-1))).toBeWithin(1, ROOM_BYTES);
});
