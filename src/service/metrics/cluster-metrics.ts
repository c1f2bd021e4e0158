import type { Metric } from "./metric.ts";

/** What a node knows of its cluster. */
export interface ClusterMeasures {
  /** For how long the log has had what this node has not applied; null before the start is over. */
  readonly lagMs: number | null;
  /** Nodes that share the work now. */
  readonly liveCount: number;
}

/** Without any value where this process is alone. */
export function clusterMetrics(cluster: () => ClusterMeasures | null): Metric[] {
  return [
    {
      name: "wherehouse_cluster_lag_seconds",
      help: "For how long the cluster's log has had what this node has not applied; above 10 it is not ready.",
      look() {
        const lagMs = cluster()?.lagMs ?? null;
        return lagMs === null ? null : lagMs / 1000;
      },
    },
    {
      name: "wherehouse_cluster_nodes",
      help: "Nodes of the cluster that told of themselves within 30 seconds, this one among them.",
      look: () => cluster()?.liveCount ?? null,
    },
  ];
}
