import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createClusterFile,
  readClusterFile,
  writeClusterFile,
} from "../../../../src/cluster/cluster-file.ts";
import { encodeNodeStatus, type NodeStatus } from "../../../../src/cluster/node-status.ts";
import { type Stream, StreamError, type StreamOptions } from "../../../../src/cluster/stream/stream.ts";
import { createPlatform } from "../../../../src/runtime/platform.ts";
import { SimulatedBucket, SimulatedValues } from "../../../support/stream/simulated-bucket.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";
import { until } from "../../../support/until.ts";
import { beginCli } from "../support/run-cli.ts";

/*
 * Commands in the data directory of a node, over a simulated bucket: those about keys and settings change what all
 * nodes share and leave no file, and those that would write what belongs to all nodes refuse.
 */

const CREATED = "2026-11-23T13:45:37.123456789Z";
const ADDRESS = { servers: ["n1.example:4222"], isSecure: false, stream: "fleet" };

let directory: string;
let dataDir: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "wherehouse-node-"));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function createNode(created: string | null = CREATED) {
  dataDir = mkdtempSync(join(directory, "data-"));
  const platform = createPlatform();
  await writeClusterFile(platform.files, dataDir, { ...createClusterFile(ADDRESS), created });
  return platform;
}

/** What a command line does there, over this bucket. */
async function run(
  line: string,
  bucket: SimulatedBucket,
  more: {
    environment?: Record<string, string>;
    typed?: string;
    refusal?: StreamError;
    /** What happens before any time passes. */
    first?: () => Promise<void>;
  } = {},
) {
  const opened: StreamOptions[] = [];
  const asked: unknown[] = [];
  let isOpen = false;
  const openStream = async (options: StreamOptions) => {
    opened.push(options);
    if (more.refusal !== undefined) throw more.refusal;
    isOpen = true;
    return {
      name: options.address.stream,
      created: CREATED,
      bucket: async (...args: unknown[]) => {
        asked.push(args);
        return bucket;
      },
      state: async () => ({ firstMessage: 7, lastMessage: 42, bytes: 4711, bytesMax: 1e9 }),
      close: async () => {
        isOpen = false;
      },
    } as unknown as Stream;
  };
  const { environment = {}, typed = "" } = more;
  const time = new VirtualTime(Number.POSITIVE_INFINITY);
  const command = beginCli([...line.split(" "), "--data-dir", dataDir], {
    input: typed,
    platform: { openStream, environment, timers: time },
  });
  await more.first?.();
  const finished = await time.until(command.ended, 10_000);
  expect(isOpen).toBe(false);
  return { ...finished, opened, asked };
}

test("keys, settings, pass phrases and links are the cluster's, and leave no file beside cluster.json", async () => {
  await createNode();
  const values = new SimulatedValues();
  const bucket = new SimulatedBucket(values);
  const created = await run("keys create --app shop --permission read --label van", bucket);
  expect([created.code, created.out]).toEqual([0, expect.stringMatching(/^wh_\w+\n$/)]);
  expect(created.asked).toEqual([["fleet-shared", { mustExist: true }]]);
  const id = /k_\w{8}/.exec(created.error)![0];
  expect((await run("keys list", new SimulatedBucket(values))).out).toContain(id);
  expect(await run("settings set retention 10y", bucket)).toMatchObject({ code: 0 });
  expect((await run("settings list", bucket)).out).toContain("10y");
  expect(await run(`keys passphrase ${id}`, bucket, { typed: "hunter2" })).toMatchObject({ code: 0 });
  expect((await run("keys link", bucket)).out).toContain("http://127.0.0.1:3000/");
  expect(await run(`keys revoke ${id}`, bucket)).toMatchObject({ code: 0 });
  expect((await run("keys list --json", bucket)).out).toContain('"revokedMs": 1');
  expect([...values.entries.keys()].sort()).toEqual([
    "keys.json",
    "pass-phrases.json",
    "session-secret",
    "settings.json",
  ]);
  expect(readdirSync(dataDir)).toEqual(["cluster.json"]);
});

test("cluster nodes lists what each told last, also one of a newer program, and no lease", async () => {
  const platform = await createNode();
  const own = (await readClusterFile(platform.files, dataDir))!.nodeId;
  const bucket = new SimulatedBucket();
  const nowMs = Date.now();
  const tell = (nodeId: string, agoMs: number, status: Partial<NodeStatus>) => {
    bucket.values.nowMs = nowMs - agoMs;
    const told = {
      address: `http://${nodeId}:3000`,
      process: "p",
      program: "0.2.0",
      floor: 7,
      quarantineFloor: 1,
    };
    const more = { appliedSequence: 9, lagMs: 12, atMs: nowMs, isUp: true };
    bucket.values.write(nodeId, encodeNodeStatus({ ...told, ...more, ...status }));
  };
  tell(own, 0, {});
  tell("b", 60_000, { address: "http://b\u001b[31m:3000", floor: 9 });
  tell("c", 7_200_000, { isUp: false });
  bucket.values.write("d", new TextEncoder().encode('{"version":2}'));
  bucket.values.write("mqtt-lease", new TextEncoder().encode("{}"));
  bucket.values.write("e\u001b[31m", new TextEncoder().encode("{}"));
  const { code, out, error, asked } = await run("cluster nodes", bucket);
  expect([code, asked]).toEqual([0, [["fleet-nodes", { mustExist: true }]]]);
  const rows = out.trimEnd().split("\n");
  expect(
    rows
      .map((row) => row.split(/ {2,}/))
      .slice(1)
      .map(([node, , version, state]) => [node, version, state]),
  ).toEqual([
    [`${own} *`, "0.2.0", "up"],
    ["b", "0.2.0", "silent"],
    ["c", "0.2.0", "stopped"],
    ["d", "-", "unknown"],
    ["e\ufffd[31m", "-", "unknown"],
  ]);
  expect(out).not.toContain("\u001b");
  expect([rows[1], rows[3]]).toEqual([
    expect.stringContaining("12 ms"),
    expect.stringMatching(/2 h ago +7$/),
  ]);
  expect(error).toContain("messages 7 to 42");
  const told = JSON.parse((await run("cluster nodes --json", bucket)).out);
  expect(told.log).toEqual({ stream: "fleet", firstMessage: 7, lastMessage: 42, bytes: 4711 });
  expect(
    told.nodes.map(({ nodeId, lagMs, floor }: { nodeId: string; lagMs: number; floor: number }) => [
      nodeId,
      lagMs,
      floor,
    ]),
  ).toEqual([
    [own, 12, 7],
    ["b", null, 9],
    ["c", null, 7],
    ["d", null, null],
    ["e\u001b[31m", null, null],
  ]);
  rmSync(join(dataDir, "cluster.json"));
  expect(await run("cluster nodes", bucket)).toMatchObject({
    code: 1,
    error: expect.stringContaining("not of a node"),
  });
});

test("the way in is cluster.json's address and what the environment says", async () => {
  await createNode(null); // Never opened: nobody knows when its stream was created.
  const bucket = new SimulatedBucket();
  writeFileSync(join(directory, "ca.pem"), "CA");
  const environment = {
    WHEREHOUSE_NATS_USER: "node",
    WHEREHOUSE_NATS_PASSWORD: "s3cret",
    WHEREHOUSE_NATS_CA: join(directory, "ca.pem"),
  };
  const { opened, code } = await run("keys list", bucket, { environment });
  expect([code, opened]).toEqual([
    0,
    [
      {
        address: {
          ...ADDRESS,
          credentials: { kind: "user", user: "node", password: "s3cret" },
          authorities: "CA",
        },
        create: null,
        onNote: expect.any(Function),
      },
    ],
  ]);
  const wrong = await run("keys list", bucket, { environment: { WHEREHOUSE_NATS_USER: "node" } });
  expect([wrong.code, wrong.error]).toEqual([1, "WHEREHOUSE_NATS_USER needs WHEREHOUSE_NATS_PASSWORD.\n"]);
});

test("a cluster that can't be asked is told of, and nothing is made beside it", async () => {
  await createNode();
  const bucket = new SimulatedBucket();
  const refusal = new StreamError("unreachable", "Cannot connect to n1.example:4222: no answer in time");
  const told = `The cluster of "${dataDir}" can't be reached: Cannot connect to n1.example:4222: no answer in time\n`;
  const lines = ["keys create --app shop --permission read", "keys list", "settings set retention 10y"];
  const said = await Promise.all(lines.map((line) => run(line, bucket, { refusal })));
  for (const { code, out, error } of said) expect([code, out, error]).toEqual([1, "", told]);
  bucket.refusal = new StreamError("unreachable", "no server answers");
  expect(await run("keys list", bucket)).toMatchObject({
    code: 1,
    error: `The cluster of "${dataDir}" can't be reached: no server answers\n`,
  });
  bucket.refusal = null;
  bucket.lostAnswers = Number.POSITIVE_INFINITY;
  const first = async () => {
    await until(() => bucket.values.entries.size > 0);
    bucket.cut();
  };
  expect(await run("keys create --app shop --permission read", bucket, { first })).toMatchObject({
    code: 1,
    error:
      "The cluster can't be reached: no server answers. The keys may have changed: check before you try again.\n",
  });
  expect(readdirSync(dataDir)).toEqual(["cluster.json"]);
});

test("a stream that was created anew is another cluster's", async () => {
  await createNode("2025-01-01T00:00:00Z");
  const { code, error } = await run("keys list", new SimulatedBucket());
  expect([code, error]).toEqual([
    1,
    `The stream "fleet" was created again, and "${dataDir}" belongs to the previous one.\n`,
  ]);
});

test("a cluster.json that can't be used stops every command that shares", async () => {
  await createNode();
  writeFileSync(join(dataDir, "cluster.json"), "{");
  for (const line of ["keys create --app shop --permission read", "settings list", "seal"]) {
    const { code, error } = await run(line, new SimulatedBucket());
    expect([code, error]).toEqual([
      1,
      `${join(dataDir, "cluster.json")} can't be used: it is not a JSON object.\n`,
    ]);
  }
});

describe("commands that see a part of the data, or would write it", () => {
  test.each([
    ["import TRACK --app shop", "To import into the cluster give --url and --key of any of its nodes."],
    [
      "import TRACK --app shop --dry-run",
      "To import into the cluster give --url and --key of any of its nodes.",
    ],
    ["seal", "Its server seals by itself."],
    ["corrections hide bus --app shop --at 1", "Give --url and --key of any of its nodes."],
    ["devices list --app shop", "Give --url and --key of any of its nodes."],
    ["devices set bus --app shop --name Bus", "Give --url and --key of any of its nodes."],
  ])("%s is refused", async (line, advice) => {
    await createNode();
    const track = join(directory, "track.csv");
    writeFileSync(track, "device_id,timestamp,latitude,longitude\nbus,1795195200000,53.4,-2.9\n");
    const { code, out, error, opened } = await run(line.replace("TRACK", track), new SimulatedBucket());
    expect([code, out, error]).toEqual([
      1,
      "",
      `"${dataDir}" is the directory of a node of a cluster. ${advice}\n`,
    ]);
    expect(opened).toEqual([]);
    expect(readdirSync(dataDir)).toEqual(["cluster.json"]);
  });

  test("export brings out what the node has sealed, says what is elsewhere, and leaves it a node's", async () => {
    await createNode();
    const node = readFileSync(join(dataDir, "cluster.json"));
    rmSync(join(dataDir, "cluster.json"));
    const track = join(directory, "sealed.csv");
    const day = new Date(Date.now() - 300 * 86_400_000).toISOString().slice(0, 10);
    writeFileSync(track, `device_id,timestamp,latitude,longitude\nbus,${day}T12:00:00Z,53.4,-2.9\n`);
    for (const line of ["settings set retention 2y", `import ${track} --app shop`, "seal"])
      expect(await run(line, new SimulatedBucket())).toMatchObject({ code: 0 });
    rmSync(join(dataDir, "wal"), { recursive: true });
    for (const file of ["settings.json", "keys.json", "first-key"]) rmSync(join(dataDir, file));
    writeFileSync(join(dataDir, "cluster.json"), node);
    const { code, out, error, opened } = await run("export --app shop --format csv", new SimulatedBucket());
    expect([code, opened]).toEqual([0, []]);
    expect(out.split("\n")[1]).toStartWith("bus,");
    expect(error).toStartWith("This is the directory of a node of a cluster. Only its archive is exported");
    expect(readdirSync(join(dataDir, "wal"))).toEqual([]); // With a log of its own it would not start again.
    expect(readFileSync(join(dataDir, "cluster.json"))).toEqual(node);
  });

  test("restore makes no directory over a node's", async () => {
    const platform = await createNode();
    const backup = join(directory, "backup");
    mkdirSync(join(directory, "alone"), { recursive: true });
    const node = dataDir;
    dataDir = join(directory, "alone");
    await run("keys create --app shop --permission read", new SimulatedBucket());
    expect(await run(`backup ${backup}`, new SimulatedBucket())).toMatchObject({ code: 0 });
    dataDir = node;
    const before = readFileSync(join(dataDir, "cluster.json"), "utf8");
    const { code, error } = await run(`restore ${backup}`, new SimulatedBucket());
    expect([code, error]).toEqual([1, expect.stringContaining(dataDir)]);
    expect(await platform.files.exists(join(dataDir, "keys.json"))).toBe(false);
    expect(readFileSync(join(dataDir, "cluster.json"), "utf8")).toBe(before);
  });

  test("verify and backup read what there is without asking the cluster, and backup says what is elsewhere", async () => {
    await createNode();
    const verified = await run("verify", new SimulatedBucket());
    expect([verified.code, verified.opened]).toEqual([0, []]);
    const backup = join(directory, "backup-of-node");
    const { code, error, opened } = await run(`backup ${backup}`, new SimulatedBucket());
    expect([code, opened]).toEqual([0, []]);
    expect(error).toStartWith("This is the directory of a node of a cluster. The backup has its archive");
  });
});
