import { expect, test } from "bun:test";
import { MessageCounts } from "../../../../src/service/ingest/messages/message-counts.ts";
import { formatMetrics } from "../../../../src/service/metrics/metric.ts";
import {
  type ClusterMeasures,
  clientMetrics,
  clusterMetrics,
  eventMetrics,
  quarantineMetrics,
  watcherMetrics,
} from "../../../../src/service/metrics/service-metrics.ts";
import { createSimulatedFiles } from "../../../support/disk/simulated-files.ts";
import { openTestQuarantine, refused } from "../quarantine/fixture.ts";

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
  const lines = (await formatMetrics([clientMetrics(counts)])).split("\n");
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

test("what lies in the quarantine is counted by client and reason, and nothing before it is open", async () => {
  const shares = { keyBytesMax: 3000, appBytesMax: 4096, bytesMax: 4096 };
  const { quarantine } = await openTestQuarantine(createSimulatedFiles(), { shares });
  await quarantine.put([refused("a"), refused("b", { client: "osmand", reason: "future" })]);
  await quarantine.put([refused("c")]);
  const lines = (await formatMetrics([quarantineMetrics(() => quarantine.totals)])).split("\n");
  expect(lines.filter((line) => line !== "" && !line.startsWith("#"))).toEqual([
    'wherehouse_quarantine_entries{client="overland",reason="bad_coordinates"} 1',
    'wherehouse_quarantine_entries{client="osmand",reason="future"} 1',
    "wherehouse_quarantine_bytes 2048",
    "wherehouse_quarantine_bytes_max 4096",
    "wherehouse_quarantine_displaced_total 0",
    "wherehouse_quarantine_refused_total 1",
  ]);
  expect(
    (await formatMetrics([quarantineMetrics(() => null)])).split("\n").filter((line) => /^\w/.test(line)),
  ).toEqual([]);
});

test("watcherMetrics() tells what events wait for, and nothing before there is a watcher", async () => {
  const values = async (watcher: Parameters<typeof watcherMetrics>[0]) =>
    (await formatMetrics([watcherMetrics(watcher)])).split("\n").filter((line) => /^\w/.test(line));
  expect(await values(() => null)).toEqual([]);
  expect(await values(() => ({ backlog: { devices: 3, behindMs: 1500 }, isFailing: true }))).toEqual([
    "wherehouse_events_backlog_devices 3",
    "wherehouse_events_behind_seconds 1.5",
    "wherehouse_events_failing 1",
  ]);
});

test("clusterMetrics() tells the lag in seconds and how many nodes there are, and nothing where there is no cluster", async () => {
  let cluster: ClusterMeasures | null = null;
  const values = async () =>
    (await formatMetrics([clusterMetrics(() => cluster)])).split("\n").filter((line) => /^\w/.test(line));
  expect(await values()).toEqual([]);
  cluster = { lagMs: null, liveCount: 2 };
  expect(await values()).toEqual(["wherehouse_cluster_nodes 2"]);
  cluster = { lagMs: 1250, liveCount: 3 };
  expect(await values()).toEqual(["wherehouse_cluster_lag_seconds 1.25", "wherehouse_cluster_nodes 3"]);
  cluster = null;
  expect(await values()).toEqual([]);
});

test("a node of a cluster counts how often it took over events and webhooks; a single process has no such count", async () => {
  const samplesOf = async (lead: { readonly takeovers: number } | null) => {
    const text = await formatMetrics([eventMetrics(() => ({ eventStore: { counts: new Map() }, lead }))]);
    return text.split("\n").filter((line) => line.startsWith("wherehouse_events_takeovers_total"));
  };
  expect(await samplesOf({ takeovers: 2 })).toEqual(["wherehouse_events_takeovers_total 2"]);
  expect(await samplesOf(null)).toEqual([]);
});
