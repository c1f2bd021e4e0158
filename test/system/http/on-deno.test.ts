import { expect, test } from "bun:test";
import { join } from "node:path";
import { nativeDeno } from "../../support/native-deno.ts";
import { BODIES, FRAMES } from "../../unit/http/body/pieces-in-turns.ts";
import { text } from "../../unit/http/openapi/open-api-document.ts";

/** What unit tests of `test/unit/http` say under Bun, and what differs between runtimes. */

const RECORD_RUNS = 400;

/** What the script prints. It must end well. */
async function onDeno(script: string, ...args: string[]): Promise<string> {
  const path = join(import.meta.dir, script);
  const deno = Bun.spawn([nativeDeno(), "run", "-A", path, ...args], { stderr: "inherit" });
  const printed = await new Response(deno.stdout).text();
  expect(await deno.exited).toBe(0);
  return printed.trimEnd();
}

test("the document is that of Bun, byte for byte", async () => {
  expect(await onDeno("print-document.ts")).toBe(text);
});

test("texts are those of the newest records, whatever was reported, asked, sealed and forgotten before", async () => {
  await onDeno("mixed-newest-on-deno.ts", String(RECORD_RUNS));
});

test("bodies of 999 zstd frames leave the event loop a turn, and its timers, behind each frame", async () => {
  const { most, ...seen } = JSON.parse(await onDeno("pieces-in-turns-on-deno.ts"));
  expect(seen).toEqual({ pieces: BODIES * FRAMES, hasTimerFired: true });
  expect(most).toBeLessThanOrEqual(BODIES);
});
