import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startNatsCluster } from "../../../test/support/nats/nats-cluster.ts";
import { bunForServer } from "../run/profiling.ts";
import { type ServerProcess, startProcess } from "./server.ts";

/** Local nodes over one log. */
export interface ClusterProcesses {
  readonly nodes: readonly ServerProcess[];
  readonly key: string;
  stop(): Promise<void>;
}

export interface ClusterSize {
  readonly nodeCount: number;
  /** How many nats-servers have a replica of the log. */
  readonly replicas: 1 | 3;
}

export async function startCluster({ nodeCount, replicas }: ClusterSize): Promise<ClusterProcesses> {
  const servers = await startNatsCluster({ count: replicas });
  const directory = mkdtempSync(join(tmpdir(), "wherehouse-bench-nodes-"));
  const nodes: ServerProcess[] = [];
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await servers.close();
    rmSync(directory, { recursive: true });
  };
  const log = ["--log", `nats://${servers.servers.join(",")}`, "--log-size", "4GB"];
  try {
    for (let index = 0; index < nodeCount; index++) {
      const dataDir = join(directory, `node-${index + 1}`);
      const words = ["src/main.ts", "serve", "--port", "0", "--data-dir", dataDir, ...log];
      const node = await startProcess([...bunForServer(), ...words]);
      nodes.push(node);
      while ((await fetch(`${node.url}/ready`)).status !== 200) await Bun.sleep(20);
    }
    // The first node creates the key, and all know it.
    const key = readFileSync(join(directory, "node-1", "first-key"), "utf8").trim();
    return { nodes, key, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
