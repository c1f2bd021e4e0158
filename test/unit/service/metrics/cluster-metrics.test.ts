import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import { type ClusterMeasures, clusterMetrics } from "../../../../src/service/metrics/cluster-metrics.ts";
import { addMetric } from "../../../../src/service/metrics/metric.ts";

test("clusterMetrics() tells the lag in seconds and how many nodes there are, and nothing where there is no cluster", async () => {
  let cluster: ClusterMeasures | null = null;
  const registry = new Registry();
  for (const metric of clusterMetrics(() => cluster)) addMetric(registry, metric);
  const values = async () => (await registry.metrics()).split("\n").filter((line) => /^\w/.test(line));
  expect(await values()).toEqual([]);
  cluster = { lagMs: null, liveCount: 2 };
  expect(await values()).toEqual(["wherehouse_cluster_nodes 2"]);
  cluster = { lagMs: 1250, liveCount: 3 };
  expect(await values()).toEqual(["wherehouse_cluster_lag_seconds 1.25", "wherehouse_cluster_nodes 3"]);
  cluster = null;
  expect(await values()).toEqual([]);
});
