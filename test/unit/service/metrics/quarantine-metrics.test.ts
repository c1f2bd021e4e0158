import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import { addMetric } from "../../../../src/service/metrics/metric.ts";
import { quarantineMetrics } from "../../../../src/service/metrics/quarantine-metrics.ts";
import { createSimulatedFiles } from "../../../support/disk/simulated-files.ts";
import { openTestQuarantine, refused } from "../quarantine/fixture.ts";

test("what lies in the quarantine is counted by client and reason, and nothing before it is open", async () => {
  const shares = { keyBytesMax: 3000, appBytesMax: 4096, bytesMax: 4096 };
  const { quarantine } = await openTestQuarantine(createSimulatedFiles(), { shares });
  await quarantine.put([refused("a"), refused("b", { client: "osmand", reason: "future" })]);
  await quarantine.put([refused("c")]);
  const registry = new Registry();
  for (const metric of quarantineMetrics(() => quarantine.totals)) addMetric(registry, metric);
  const lines = (await registry.metrics()).split("\n");
  expect(lines.filter((line) => line !== "" && !line.startsWith("#"))).toEqual([
    'wherehouse_quarantine_entries{client="overland",reason="bad_coordinates"} 1',
    'wherehouse_quarantine_entries{client="osmand",reason="future"} 1',
    "wherehouse_quarantine_bytes 2048",
    "wherehouse_quarantine_bytes_max 4096",
    "wherehouse_quarantine_displaced_total 0",
    "wherehouse_quarantine_refused_total 1",
  ]);
  const closed = new Registry();
  for (const metric of quarantineMetrics(() => null)) addMetric(closed, metric);
  expect((await closed.metrics()).split("\n").filter((line) => /^\w/.test(line))).toEqual([]);
});
