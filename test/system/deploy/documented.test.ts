import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createTestApp } from "../../support/test-app.ts";

const PAGE = readFileSync(join(import.meta.dir, "../../../docs/monitor.md"), "utf8");

test("docs/monitor.md names metrics that there are, each of which explains itself", async () => {
  const app = await createTestApp();
  const response = await app.fetch("/metrics", {
    headers: { authorization: `Bearer ${app.keys.operator}` },
  });
  const text = await response.text();
  const kinds = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name!);
  const explained = [...text.matchAll(/^# HELP (\S+) \S.*\.$/gm)].map(([, name]) => name!);
  expect(explained).toEqual(kinds);
  const named = [...PAGE.matchAll(/\b(?:wherehouse|process)_[a-z_]+/g)].map(([name]) => name);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !kinds.includes(name))).toEqual([]);
});

test("docs/monitor.md lists every event of the log, and no other", () => {
  const sources = ["screen/server-events.ts", "screen/mqtt-events.ts", "serve/run.ts"].map((name) =>
    readFileSync(join(import.meta.dir, "../../../src/cli", name), "utf8"),
  );
  const named = sources.flatMap((text) => [...text.matchAll(/event: "([a-z_]+)"/g)].map(([, name]) => name!));
  const refusals = [...sources[0]!.matchAll(/^ {2}(log_[a-z_]+):/gm)].map(([, name]) => name!);
  // Said of a batch that comes while the server stops: `stopping` has said it.
  const expected = new Set([...named, ...refusals].filter((name) => name !== "log_closed"));
  const section = PAGE.slice(PAGE.indexOf("## Logs"), PAGE.indexOf("## Metrics"));
  const rows = section.split("\n").filter((line) => line.startsWith("| `"));
  const listed = rows.flatMap((row) =>
    [...row.split("|")[1]!.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name!),
  );
  expect(listed.sort()).toEqual([...expected].sort());
});
