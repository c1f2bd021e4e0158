import { isNodeKey, nodesBucketName } from "../../cluster/buckets.ts";
import { readClusterFile } from "../../cluster/cluster-file.ts";
import { parseNodeStatus } from "../../cluster/node-status.ts";
import { ClusterError } from "../../cluster/open-cluster.ts";
import type { BucketEntry } from "../../cluster/stream/stream.ts";
import { roughDuration } from "../../lib/text/duration.ts";
import { printableLine } from "../../lib/text/printable.ts";
import type { CommandContext } from "../arguments/command.ts";
import { expectDataDirectory } from "../directory/data-directory.ts";
import { formatTable } from "../screen/layout.ts";
import type { ClusterNodesOptions } from "./command.ts";
import { withBucket } from "./node-directory.ts";

/** The last status of a node, as `--json` prints it. */
interface NodeRow {
  readonly nodeId: string;
  /** Whether the command's data directory is this node's. */
  readonly isOwn: boolean;
  /** Null, like most fields below, if a newer version of the program wrote the status. */
  readonly address: string | null;
  readonly version: string | null;
  readonly state: "up" | "stopped" | "silent" | "unknown";
  readonly lagMs: number | null;
  /** The first message of the log that it needs. */
  readonly floor: number | null;
  /** When it sent the status, by the servers' clock. */
  readonly toldMs: number;
}

/** A node sends its status every five seconds. */
const SILENT_MS = 30_000;

export async function listNodes(
  { dataDir, json }: ClusterNodesOptions,
  { platform, clock, terminal }: CommandContext,
): Promise<number> {
  await expectDataDirectory(platform.files, dataDir);
  const file = await readClusterFile(platform.files, dataDir);
  if (file === null)
    throw new ClusterError(`"${dataDir}" is the directory of a single server, not of a node of a cluster.`);
  const name = nodesBucketName(file.address.stream);
  return withBucket(dataDir, file, name, platform, async (bucket, stream) => {
    const [entries, state] = await Promise.all([bucket.entries(), stream.state()]);
    const nowMs = Math.max(clock.nowMs(), ...entries.map(({ writtenMs }) => writtenMs));
    const nodes = entries
      .filter(({ key }) => isNodeKey(key))
      .map((entry) => rowOf(entry, file.nodeId, nowMs));
    const { firstMessage, lastMessage, bytes } = state;
    if (json) {
      const log = { stream: stream.name, firstMessage, lastMessage, bytes };
      terminal.out(`${JSON.stringify({ log, nodes }, null, 2)}\n`);
    } else {
      terminal.out(tableOf(nodes, nowMs));
      terminal.error(
        `The log has messages ${firstMessage} to ${lastMessage}. * is the node of this directory.\n`,
      );
    }
    return 0;
  });
}

function rowOf({ key, value, writtenMs }: BucketEntry, ownId: string, nowMs: number): NodeRow {
  const status = parseNodeStatus(value);
  const common = { nodeId: key, isOwn: key === ownId, toldMs: writtenMs };
  if (status === null)
    return { ...common, address: null, version: null, state: "unknown", lagMs: null, floor: null };
  const { address, program, lagMs, floor, isUp } = status;
  const state = !isUp ? "stopped" : nowMs - writtenMs > SILENT_MS ? "silent" : "up";
  return { ...common, address, version: program, state, lagMs: state === "up" ? lagMs : null, floor };
}

function tableOf(nodes: readonly NodeRow[], nowMs: number): string {
  const rows = nodes.map(({ nodeId, isOwn, address, version, state, lagMs, floor, toldMs }) => [
    printableLine(`${nodeId}${isOwn ? " *" : ""}`),
    printableLine(address ?? "-"),
    printableLine(version ?? "-"),
    state,
    lagMs === null ? "-" : `${lagMs} ms`,
    `${roughDuration(Math.max(0, nowMs - toldMs) / 1000)} ago`,
    String(floor ?? "-"),
  ]);
  return formatTable(
    ["node", "address", "version", "state", ">lag", ">last status", ">needs the log from"],
    rows,
  );
}
