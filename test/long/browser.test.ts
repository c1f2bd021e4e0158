import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { chromiumPath } from "../system/browser/support/chromium.ts";

/*
 * The tests of the map page with a server on Deno. `npm run test:system` runs most of them on Bun alone, since the page
 * is the same from either.
 */

const ROOT = resolve(import.meta.dir, "../..");
const FOLDER = "test/system/browser";

describe.skipIf(chromiumPath === null)("the map page of a server on Deno", () => {
  test.each(
    readdirSync(join(ROOT, FOLDER), { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".test.ts"),
    ),
  )("%s", async (name) => {
    const child = Bun.spawn([process.execPath, "test", "--timeout=120000", `./${FOLDER}/${name}`], {
      cwd: ROOT,
      env: { ...process.env, WHEREHOUSE_TEST_RUNTIME: "Deno" },
      stdout: "pipe",
      stderr: "pipe",
    });
    const texts = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    const said = texts.join("\n");
    if ((await child.exited) !== 0) console.error(said.replaceAll(/^ *\d+ (pass|fail)$/gm, "of them: $&"));
    expect(child.exitCode).toBe(0);
    expect(said).toMatch(/^ *[1-9]\d* pass$/m);
  });
});
