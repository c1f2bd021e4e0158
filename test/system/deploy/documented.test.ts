import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createTestApp } from "../../support/test-app.ts";

const README = readFileSync(join(import.meta.dir, "../../../deploy/README.md"), "utf8");

test("deploy/README.md lists every metric with its kind and help, and no other", async () => {
  const app = await createTestApp();
  const response = await app.fetch("/metrics", {
    headers: { authorization: `Bearer ${app.keys.operator}` },
  });
  const text = await response.text();
  const helps = new Map([...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name, help]) => [name, help]));
  const shown = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(
    ([, name, kind]) => `| \`${name}\` | ${kind} | ${helps.get(name)} |`,
  );
  const listed = README.split("\n").filter((line) => /^\| `(wherehouse|process)_/.test(line));
  expect(listed).toEqual(shown);
});

test("deploy/README.md lists every event of the log, and no other", () => {
  const sources = ["screen/server-events.ts", "screen/mqtt-events.ts", "serve/run.ts"].map((name) =>
    readFileSync(join(import.meta.dir, "../../../src/cli", name), "utf8"),
  );
  const named = sources.flatMap((text) => [...text.matchAll(/event: "([a-z_]+)"/g)].map(([, name]) => name!));
  const refusals = [...sources[0]!.matchAll(/^ {2}(log_[a-z_]+):/gm)].map(([, name]) => name!);
  // Said of a batch that comes while the server stops: `stopping` has said it.
  const expected = new Set([...named, ...refusals].filter((name) => name !== "log_closed"));
  const section = README.slice(README.indexOf("## Logs"), README.indexOf("## Metrics"));
  const rows = section.split("\n").filter((line) => line.startsWith("| `"));
  const listed = rows.flatMap((row) =>
    [...row.split("|")[1]!.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name!),
  );
  expect(listed.sort()).toEqual([...expected].sort());
});
