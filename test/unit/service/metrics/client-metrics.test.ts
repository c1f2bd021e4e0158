import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import { MessageCounts } from "../../../../src/service/ingest/messages/message-counts.ts";
import { clientMetrics } from "../../../../src/service/metrics/client-metrics.ts";
import { addMetric } from "../../../../src/service/metrics/metric.ts";

test("what clients sent is counted by client and by what became of it", async () => {
  const counts = new MessageCounts();
  const refused = [{ reason: "future", deviceId: "pixel", raw: {}, index: 0, fault: null }] as const;
  const skipped = new Map([
    ["visit", 2],
    ["trip", 1],
  ]);
  const collected = {
    refused: [...refused],
    skipped,
    leftOut: [
      { field: "speed", fault: "unreadable", count: 3 } as const,
      { field: "bearing", fault: "out_of_range", count: 1 } as const,
    ],
    timedByArrival: 4,
    rolledOver: 5,
  };
  counts.note("overland", { collected, accepted: 7, duplicates: 6 });
  counts.note("overland", { collected, accepted: 1, duplicates: 0 });
  counts.note("osmand", {
    collected: { refused: [], skipped: new Map(), leftOut: [], timedByArrival: 0, rolledOver: 0 },
    accepted: 1,
    duplicates: 0,
  });
  const registry = new Registry();
  for (const metric of clientMetrics(counts)) addMetric(registry, metric);
  const lines = (await registry.metrics()).split("\n");
  const samples = lines.filter((line) => line !== "" && !line.startsWith("#")).sort();
  expect(samples).toEqual([
    "wherehouse_client_fields_left_out_total 8",
    'wherehouse_client_messages_total{client="osmand"} 1',
    'wherehouse_client_messages_total{client="overland"} 2',
    'wherehouse_client_points_total{client="osmand",outcome="accepted"} 1',
    'wherehouse_client_points_total{client="osmand",outcome="duplicates"} 0',
    'wherehouse_client_points_total{client="osmand",outcome="refused"} 0',
    'wherehouse_client_points_total{client="osmand",outcome="skipped"} 0',
    'wherehouse_client_points_total{client="overland",outcome="accepted"} 8',
    'wherehouse_client_points_total{client="overland",outcome="duplicates"} 6',
    'wherehouse_client_points_total{client="overland",outcome="refused"} 2',
    'wherehouse_client_points_total{client="overland",outcome="skipped"} 6',
    "wherehouse_client_times_corrected_total 10",
    "wherehouse_client_times_of_arrival_total 8",
  ]);
});
