import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "../../unit/http/openapi/open-api-document.ts";

test("the document passes Redocly's recommended rules, none left out", async () => {
  const directory = mkdtempSync(join(tmpdir(), "wherehouse-openapi-"));
  try {
    writeFileSync(join(directory, "openapi.json"), text);
    const redocly = join(import.meta.dir, "../../../node_modules/.bin/redocly");
    const lint = Bun.spawn(
      [process.execPath, redocly, "lint", "--extends", "recommended", "--format", "json", "openapi.json"],
      {
        cwd: directory,
        env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
        stderr: "ignore",
      },
    );
    const report = JSON.parse(await new Response(lint.stdout).text());
    expect(report.problems).toEqual([]);
    expect(await lint.exited).toBe(0);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
