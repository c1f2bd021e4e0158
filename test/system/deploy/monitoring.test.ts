import { afterAll, beforeAll, expect } from "bun:test";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram, hasProgram } from "../../support/programs.ts";
import {
  closePlace,
  openPlace,
  RUNTIMES,
  readFirstKey,
  runCommand,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { get, store, untilKnown } from "../support/client.ts";
import { test } from "../support/process-test.ts";

/* The alerts and the dashboard of deploy/: what they ask is what a real server tells. */

const DEPLOY = join(import.meta.dir, "../../../deploy");
const RULES = join(DEPLOY, "prometheus-rules.yml");

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const dashboard = JSON.parse(readFileSync(join(DEPLOY, "grafana-dashboard.json"), "utf8")) as {
  readonly panels: readonly Panel[];
};
const alerts = [...readFileSync(RULES, "utf8").matchAll(/^ +expr: (.*)$/gm)].map(
  ([, expression]) => expression!,
);
const questions = [...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)), ...alerts];

const place = openPlace();
let server: ServerProcess;
let scrape: string;

beforeAll(async () => {
  server = await startReady(RUNTIMES[0]!, place);
  const client = { url: server.url, key: readFirstKey(place) };
  await store(client, [{ device_id: "tram", timestamp: Date.now(), latitude: 53, longitude: -2 }]);
  const made = await runCommand(RUNTIMES[0]!, place, [
    ...["keys", "create", "--app", "default", "--permission", "operate"],
  ]);
  const operator = { url: server.url, key: made.out.trim() };
  await untilKnown(operator);
  const answer = await get(operator, "/metrics");
  scrape = await answer.text();
});
afterAll(() => closePlace(place));

test("every metric that an alert or a panel names is one of the server's", () => {
  const known = new Set([...scrape.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name!));
  expect(known.size).toBeGreaterThan(50);
  const named = questions.flatMap((question) => question.match(/\b(?:wherehouse|process)_\w+/g) ?? []);
  expect(questions.length).toBeGreaterThan(20);
  expect(named.filter((name) => !known.has(name.replace(/_bucket$/, "")))).toEqual([]);
});

test("every label that a panel groups by is one that the metric has, if it has any value by now", () => {
  for (const { title, targets } of dashboard.panels)
    for (const { expr } of targets) {
      const [, labels] = /\bby \(([\w, ]+)\)/.exec(expr) ?? [];
      const [metric] = /\b(?:wherehouse|process)_\w+/.exec(expr)!;
      const sample = scrape.split("\n").find((line) => line.startsWith(`${metric}{`));
      if (labels === undefined || sample === undefined) continue;
      for (const label of labels.split(", ").filter((each) => each !== "instance"))
        expect([title, sample]).toEqual([title, expect.stringContaining(`${label}="`)]);
    }
});

test.if(hasProgram("promtool", "the check of alerts by Prometheus' own tool"))(
  "Prometheus' own tool takes the alerts",
  () => {
    const { status, stdout, stderr } = spawnSync(findProgram("promtool")!, ["check", "rules", RULES], {
      encoding: "utf8",
    });
    expect([status, stdout + stderr]).toEqual([0, expect.stringContaining("SUCCESS")]);
  },
);
