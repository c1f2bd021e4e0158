import { expect, test } from "bun:test";
import type { Config } from "../../../src/app/config.ts";
import { readClusterFile } from "../../../src/cluster/cluster-file.ts";
import { ClusterError, openCluster } from "../../../src/cluster/open-cluster.ts";
import { StreamError, type StreamOptions } from "../../../src/cluster/stream/stream.ts";
import { createManualClock } from "../../../src/model/time/clock.ts";
import { createSimulatedFiles, type SimulatedFiles } from "../../support/disk/simulated-files.ts";
import { outcome } from "../../support/rejection.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { SimulatedServers } from "../../support/stream/simulated-servers.ts";
import { SimulatedStream } from "../../support/stream/simulated-stream.ts";
import { VirtualTime } from "../../support/stream/virtual-time.ts";

const CLUSTER = {
  address: { servers: ["127.0.0.1:4222"], isSecure: false, stream: "fleet" },
  access: { credentials: null, authoritiesFile: null },
  logBytesMax: 1e9,
  nodeTimeoutMs: 1e9,
  advertise: null,
};

function openWorld() {
  const time = new VirtualTime();
  const servers = new SimulatedServers("fleet", () => time.nowMs());
  const asked: StreamOptions[] = [];
  const open = (files: SimulatedFiles, cluster: Config["cluster"], refusal: StreamError | null = null) =>
    time.until(
      openCluster({ dataDir: "data", cluster } as Config, {
        files,
        clock: createManualClock(0),
        onWaiting: () => undefined,
        onLogNote: () => undefined,
        async openStream(options) {
          asked.push(options);
          if (refusal !== null) throw refusal;
          return new SimulatedStream({ servers, time, random: seededRandom(1) });
        },
      }),
    );
  return { servers, asked, open };
}

async function emptyDirectory(): Promise<SimulatedFiles> {
  const files = createSimulatedFiles();
  await files.makeDirectory("data");
  await files.makeDirectory("data/wal");
  await files.makeDirectory("data/archive");
  return files;
}

async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ClusterError);
  return (error as ClusterError).message;
}

test("a single process is in no cluster, and sends no request", async () => {
  const { asked, open } = openWorld();
  expect(await open(await emptyDirectory(), null)).toBeNull();
  expect(asked).toEqual([]);
});

test("an empty directory becomes that of a node, and makes the stream once", async () => {
  const { asked, open, servers } = openWorld();
  const files = await emptyDirectory();
  const node = await open(files, CLUSTER);
  const file = await readClusterFile(files, "data");
  expect(file).toEqual({
    nodeId: file!.nodeId,
    address: CLUSTER.address,
    created: servers.created,
    floor: 1,
    lastTaken: null,
  });
  const { nodeId } = file!;
  const status = { ...CLUSTER.address, nodeId, created: servers.created, floor: 1, lastTaken: null };
  expect(node!.status).toEqual(status);
  const again = await open(files, CLUSTER);
  expect(again!.directoryStream).toMatchObject({ nodeId, fromMessage: 1, lastTaken: null });
  expect(again!.idPrefix.slice(0, 16)).toBe(file!.nodeId);
  expect(again!.idPrefix).not.toBe(node!.idPrefix); // Its messages are other ones.
  const made = { firstMessage: 1, bytesMax: 1e9 };
  expect(asked.map(({ address, create }) => [address.stream, create])).toEqual([
    ["fleet", made],
    ["fleet", null],
  ]);
});

test("a node's directory is not served without its cluster, or with another stream", async () => {
  const { open } = openWorld();
  const files = await emptyDirectory();
  await open(files, CLUSTER);
  expect(await refusalOf(open(files, null))).toContain("--log nats://127.0.0.1:4222 --stream fleet");
  const other = { ...CLUSTER, address: { ...CLUSTER.address, stream: "other" } };
  expect(await refusalOf(open(files, other))).toContain('belongs to the stream "fleet"');
});

test("a directory with data of its own is sent to cluster init, and stays as it is", async () => {
  for (const file of ["data/wal/00000000000000000001.wal", "data/archive/manifest.json"]) {
    const { asked, open } = openWorld();
    const files = await emptyDirectory();
    await files.replace(file, new Uint8Array([1]));
    expect(await refusalOf(open(files, CLUSTER))).toContain("cluster init");
    expect(await readClusterFile(files, "data")).toBeNull();
    expect(asked).toEqual([]);
  }
});

test("a stream that was made anew is refused: it lacks what the other one held", async () => {
  const { open, servers } = openWorld();
  const files = await emptyDirectory();
  await open(files, CLUSTER);
  const before = await readClusterFile(files, "data");
  servers.created = "2026-02-02T00:00:00.000000001Z";
  expect(await refusalOf(open(files, CLUSTER))).toContain("was created at 2026-02-02");
  expect(await readClusterFile(files, "data")).toEqual(before);
});

test("a deleted bucket of keys and settings is not created again, neither for an old nor for a new node", async () => {
  const { open, servers } = openWorld();
  const files = await emptyDirectory();
  await open(files, CLUSTER);
  const told = servers.valuesOf("fleet-nodes").write("0123456789abcdef", new Uint8Array([1]));
  expect(told).toBe(1);
  servers.removeValues("fleet-shared");
  const another = await emptyDirectory();
  for (const each of [files, another])
    expect(await refusalOf(open(each, CLUSTER))).toContain(
      'bucket "fleet-shared": stream not found. It had the only copy of the cluster\'s keys and settings',
    );
  expect(servers.hasValues("fleet-shared")).toBe(false);
  expect(await readClusterFile(another, "data")).toBeNull();
  servers.valuesOf("fleet-shared");
  await open(files, CLUSTER);
  await open(another, CLUSTER);
});

test("the error for servers without room names the flag that makes the stream smaller", async () => {
  const { open } = openWorld();
  const full = new StreamError("full", "Cannot create the stream: insufficient storage");
  expect(await refusalOf(open(await emptyDirectory(), CLUSTER, full))).toContain("--log-size");
});

test("whatever else servers refuse ends the start in their words, and leaves no file", async () => {
  const { open } = openWorld();
  const files = await emptyDirectory();
  const refused = new StreamError("refused", "the server n1 does not sync always");
  expect(await outcome(open(files, CLUSTER, refused))).toThrow("does not sync always");
  expect(await readClusterFile(files, "data")).toBeNull();
});
