import { expect, test } from "bun:test";
import { createClusterFile, readClusterFile } from "../../../src/cluster/cluster-file.ts";
import { type AppliedLog, ClusterNode } from "../../../src/cluster/cluster-node.ts";
import { StreamError } from "../../../src/cluster/stream/stream.ts";
import { createManualClock } from "../../../src/model/time/clock.ts";
import { createSimulatedFiles } from "../../support/disk/simulated-files.ts";
import { outcome } from "../../support/rejection.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { SimulatedServers } from "../../support/stream/simulated-servers.ts";
import { SimulatedStream } from "../../support/stream/simulated-stream.ts";
import { VirtualTime } from "../../support/stream/virtual-time.ts";

const ADDRESS = { servers: ["127.0.0.1:4222"], isSecure: false, stream: "fleet" };
const DAY_MS = 86_400_000;

function openCluster() {
  const time = new VirtualTime();
  const servers = new SimulatedServers("fleet", () => time.nowMs());
  const clock = createManualClock(0);
  const notes: string[] = [];
  const open = async (nodeId?: string) => {
    const stream = new SimulatedStream({ servers, time, random: seededRandom(1) });
    const files = createSimulatedFiles();
    await files.makeDirectory("data");
    const node = new ClusterNode({
      dataDir: "data",
      files,
      file: {
        ...createClusterFile(ADDRESS),
        created: stream.created,
        ...(nodeId === undefined ? {} : { nodeId }),
      },
      stream,
      nodes: await stream.bucket("fleet-nodes"),
      shared: await stream.bucket("fleet-shared"),
      codes: await stream.bucket("fleet-codes"),
      clock,
      nodeTimeoutMs: 7 * DAY_MS,
      program: "0.2.0",
      timers: time,
      onNote: (note) => notes.push(note),
    });
    const log = { lastMessage: 0, lastSequence: 0 };
    return { node, stream, files, log };
  };
  return { time, servers, clock, notes, open };
}

/** The id of a message after the floor. */
function taken(floor: number) {
  return { number: floor + 3, id: `n.${floor + 3}` };
}

async function begin(time: VirtualTime, { node, log }: { node: ClusterNode; log: AppliedLog }) {
  await time.until(node.announce("http://127.0.0.1:1", () => undefined));
  node.begin(log);
}

test("the stream is purged as far as all nodes have given it up, once that is on their disks", async () => {
  const { time, servers, open } = openCluster();
  const a = await time.until(open());
  const b = await time.until(open());
  await begin(time, a);
  await begin(time, b);
  for (let i = 0; i < 50; i++) servers.keepForeign(new Uint8Array(8));
  await a.node.directoryStream.onFloor(40, taken(40));
  expect((await readClusterFile(a.files, "data"))?.floor).toBe(40);
  await time.until(time.wait(20_000));
  expect(servers.firstMessage).toBe(1);
  await b.node.directoryStream.onFloor(31, taken(31));
  await time.until(time.wait(20_000));
  expect(servers.firstMessage).toBe(31);
  expect([a.node.liveCount, b.node.liveCount]).toEqual([2, 2]);
});

test("the last message that was taken is on the disk after each trim, whether or not the floor rises", async () => {
  const { time, open } = openCluster();
  const { node, files } = await time.until(open());
  const known = async () => {
    const { floor, lastTaken } = (await readClusterFile(files, "data"))!;
    const { fromMessage, lastTaken: told } = node.directoryStream;
    expect({ floor: fromMessage, lastTaken: told }).toEqual({ floor, lastTaken });
    return [floor, lastTaken?.number];
  };
  await node.directoryStream.onFloor(40, taken(40));
  expect(await known()).toEqual([40, 43]);
  await node.directoryStream.onFloor(40, taken(50));
  expect(await known()).toEqual([40, 53]);
  await node.directoryStream.onFloor(39, taken(60));
  expect(await known()).toEqual([40, 63]);
  expect(node.status).toMatchObject({ floor: 40, lastTaken: taken(60) });
});

test("of two processes with one node's directory the one that came later stops, and says why", async () => {
  const { time, open } = openCluster();
  const a = await time.until(open());
  const copy = await time.until(open(a.node.nodeId));
  const failures: Record<string, string> = {};
  a.node.failed.catch((error: unknown) => {
    failures.first = String(error);
  });
  copy.node.failed.catch((error: unknown) => {
    failures.copy = String(error);
  });
  await begin(time, a);
  await time.until(time.wait(20_000));
  await begin(time, copy);
  await time.until(time.wait(60_000));
  expect(failures).toEqual({
    copy: expect.stringContaining(`Another process runs as node ${a.node.nodeId}`),
  });
  await time.until(copy.node.close());
  await time.until(a.node.close());

  // A restarted node finds its former status and continues.
  const again = await time.until(open(a.node.nodeId));
  again.node.failed.catch((error: unknown) => {
    failures.again = String(error);
  });
  await begin(time, again);
  await time.until(time.wait(60_000));
  expect(Object.keys(failures)).toEqual(["copy"]);
  await time.until(again.node.close());
});

test("a floor that could not be stored is not published, and the next one is", async () => {
  const { time, servers, open } = openCluster();
  const a = await time.until(open());
  await begin(time, a);
  for (let i = 0; i < 50; i++) servers.keepForeign(new Uint8Array(8));
  a.files.failNext("replace", "ENOSPC");
  expect(await outcome(a.node.directoryStream.onFloor(40, taken(40)))).toThrow();
  await time.until(time.wait(20_000));
  expect([servers.firstMessage, a.node.directoryStream.fromMessage]).toEqual([1, 1]);
  await a.node.directoryStream.onFloor(40, taken(40));
  await time.until(time.wait(20_000));
  expect(servers.firstMessage).toBe(40);
});

test("the log is retained for an absent node until the timeout", async () => {
  const { time, servers, clock, notes, open } = openCluster();
  const a = await time.until(open());
  const b = await time.until(open());
  await begin(time, a);
  await begin(time, b);
  for (let i = 0; i < 50; i++) servers.keepForeign(new Uint8Array(8));
  await time.until(b.node.close());
  await a.node.directoryStream.onFloor(40, taken(40));
  const passTo = (nowMs: number) => {
    clock.set(nowMs);
    servers.valuesOf("fleet-nodes").nowMs = nowMs;
  };
  passTo(6 * DAY_MS);
  await time.until(time.wait(60_000));
  expect([servers.firstMessage, a.node.liveCount]).toEqual([1, 1]);
  passTo(8 * DAY_MS);
  await time.until(time.wait(60_000));
  expect(servers.firstMessage).toBe(40);
  expect(notes.join()).toContain("has been away for longer than --node-timeout");
});

test("a node whose start can't go on keeps nothing in the stream", async () => {
  const { time, servers, open } = openCluster();
  const a = await time.until(open());
  const b = await time.until(open());
  await begin(time, a);
  await time.until(b.node.announce("http://127.0.0.1:2", () => undefined));
  for (let i = 0; i < 50; i++) servers.keepForeign(new Uint8Array(8));
  await time.until(b.node.noteFailedStart(new StreamError("gone", "purged")));
  await time.until(b.node.close());
  await a.node.directoryStream.onFloor(40, taken(40));
  await time.until(time.wait(20_000));
  expect(servers.firstMessage).toBe(40);
});

test("a start waits for unreachable servers when it requests the stream's state", async () => {
  const { time, open } = openCluster();
  const { node, stream } = await time.until(open());
  const waits: unknown[] = [];
  await time.until(node.announce("http://127.0.0.1:1", (error) => waits.push(error)));
  stream.setCut(true);
  const asking = node.directoryStream.probe.state();
  await time.until(time.wait(10_000));
  stream.setCut(false);
  expect((await time.until(asking)).lastMessage).toBe(0);
  expect(waits.length).toBeGreaterThan(0);
  await time.until(node.close());
});

test("the lag grows while entries are missing or servers don't answer, and then ends", async () => {
  const { time, servers, open } = openCluster();
  const a = await time.until(open());
  expect(a.node.lagMs).toBeNull();
  await begin(time, a);
  await time.until(time.wait(5000));
  expect(a.node.lagMs).toBe(0);
  servers.keepForeign(new Uint8Array(8));
  await time.until(time.wait(15_000));
  expect(a.node.lagMs).toBeGreaterThan(10_000);
  a.log.lastMessage = 1;
  expect(a.node.lagMs).toBe(0);
  a.stream.setCut(true);
  await time.until(time.wait(15_000));
  expect(a.node.lagMs).toBeGreaterThan(10_000);
  a.stream.setCut(false);
  await time.until(time.wait(10_000));
  expect(a.node.lagMs).toBe(0);
  await time.until(a.node.close());
});
