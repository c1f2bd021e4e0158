import { describe, expect, test } from "bun:test";
import { dirname } from "node:path";
import { EMPTY_MANIFEST, encodeManifest } from "../../../../src/archive/manifest.ts";
import { COPIES_MAX, type CopiesOptions, createCopies } from "../../../../src/cluster/join/copies.ts";
import { copyNoSqlite } from "../../../support/disk/memory-sqlite.ts";
import { createSimulatedFiles } from "../../../support/disk/simulated-files.ts";
import { outcome } from "../../../support/rejection.ts";
import { createTestApp, type KeyName, TEST_CLUSTER } from "../../../support/test-app.ts";
import { until } from "../../../support/until.ts";

/** What a node gives another of its directory: the files of a copy, and nothing else. */

const PART = "archive/day=2026-03-19/00000001-000.parquet";
const SEGMENT = "quarantine/0000000000000012-5f0c8f3b1d2e4a6798b0c1d2e3f40516.message";
const SECRET = "nobody may have this";
const PIECE_BYTES = 256 * 1024;

const COPY = "/api/v1/service/copy";
const fileAt = (path: string, node: string = TEST_CLUSTER.nodeId) =>
  `${COPY}/file?${new URLSearchParams({ node, path })}`;

/** An app with a part, a segment, and files that are not for copying. */
async function createNode(options: Partial<CopiesOptions> = {}) {
  const files = createSimulatedFiles();
  const contents = {
    [PART]: new Uint8Array(3 * PIECE_BYTES + 5).map((_, index) => index % 251),
    [SEGMENT]: new TextEncoder().encode("an entry"),
    "keys.json": SECRET,
    "cluster.json": SECRET,
    "session-secret": SECRET,
    "archive/scratch/draft.parquet": SECRET,
    "quarantine/0000000000000012-5f0c8f3b1d2e4a6798b0c1d2e3f40516.message.1234abcd.tmp": SECRET,
    "damaged/manifest.json.12345678.damaged": SECRET,
  };
  const cluster = () => TEST_CLUSTER;
  const copies = createCopies({
    files,
    dataDir: "/data",
    copySqlite: copyNoSqlite,
    cluster,
    stallMs: 60_000,
    ...options,
  });
  const app = await createTestApp({ files, copies });
  for (const [path, content] of Object.entries(contents)) {
    await files.makeDirectory(dirname(`/data/${path}`));
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    await files.replace(`/data/${path}`, bytes);
  }
  const ask = (path: string, key: KeyName = "operator", init: RequestInit = {}) =>
    app.fetch(path, { ...init, headers: { authorization: `Bearer ${app.keys[key]}` } });
  return { app, files, copies, ask, part: contents[PART] };
}

const untilIdle = (copies: { readonly running: number }) => until(() => copies.running === 0);

describe(COPY, () => {
  test("tells the cluster, and what there is beside the parts", async () => {
    const { ask } = await createNode();
    const response = await ask(COPY);
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        success: true,
        version: "1.2.3",
        cluster: {
          node_id: TEST_CLUSTER.nodeId,
          servers: ["10.0.0.1:4222"],
          is_secure: false,
          stream: "wherehouse",
          created: "2026-01-02T03:04:05.678Z",
          floor: 17,
          last_taken: TEST_CLUSTER.lastTaken,
        },
        files: ["archive/manifest.json", SEGMENT],
      },
    ]);
  });

  test("takes the floor before it looks for the manifest", async () => {
    const files = createSimulatedFiles();
    const looked: string[] = [];
    const watched = {
      ...files,
      exists: (path: string) => {
        looked.push(path);
        return files.exists(path);
      },
    };
    const cluster = () => {
      looked.push("floor");
      return TEST_CLUSTER;
    };
    await createCopies({
      files: watched,
      dataDir: "/data",
      copySqlite: copyNoSqlite,
      cluster,
      stallMs: 1000,
    }).plan();
    expect(looked.slice(0, 2)).toEqual(["floor", "/data/archive/manifest.json"]);
  });

  test("is a 409 where the server is a single process, and a 503 while it starts", async () => {
    const single = await createNode({ cluster: () => null });
    const node = await createNode();
    node.app.setReadiness({ status: "starting", replayed: 0, total: 1 });
    for (const path of [COPY, fileAt(PART)]) {
      const refused = await single.ask(path);
      expect([refused.status, (await refused.json()).message]).toEqual([
        409,
        "this server is a single process and not a node of a cluster that another node could join",
      ]);
      const starting = await node.ask(path);
      expect([starting.status, starting.headers.get("retry-after")]).toEqual([503, "1"]);
    }
  });
});

describe(`${COPY}/file`, () => {
  test("sends a file as it is, and says how many bytes it has", async () => {
    const { ask, copies, part } = await createNode();
    const response = await ask(fileAt(PART));
    expect([response.status, response.headers.get("wherehouse-bytes")]).toEqual([200, String(part.length)]);
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(part);
    expect(await (await ask(fileAt(SEGMENT))).text()).toBe("an entry");
    const manifest = await ask(fileAt("archive/manifest.json"));
    expect(await manifest.text()).toBe(new TextDecoder().decode(encodeManifest(EMPTY_MANIFEST)));
    const head = await ask(fileAt(PART), "operator", { method: "HEAD" });
    expect([head.headers.get("wherehouse-bytes"), await head.text()]).toEqual([String(part.length), ""]);
    await untilIdle(copies);
  });

  test("is a 409 where another node's is wanted, as behind an address that leads to several", async () => {
    const { ask, copies } = await createNode();
    const refused = await ask(fileAt(PART, "0123456789abcdef"));
    expect([refused.status, (await refused.json()).message]).toEqual([
      409,
      expect.stringContaining("the copy was started on a different node"),
    ]);
    expect(copies.running).toBe(0);
    for (const node of ["", "x", "0123456789ABCDEF"])
      expect((await ask(fileAt(PART, node))).status).toBe(400);
  });

  test.each([
    "keys.json",
    "cluster.json",
    "session-secret",
    "../data/keys.json",
    "archive/../keys.json",
    "archive/latest/../../keys.json",
    "archive/scratch/draft.parquet",
    "archive/day=2026-03-19/../../keys.json",
    "archive/day=2026-03-19//00000001-000.parquet",
    "/data/keys.json",
    "archive\\manifest.json",
    `${PART}\0.json`,
    `${PART}\n`,
    "archive/manifest.json/../../keys.json",
    "quarantine/0000000000000012-5f0c8f3b1d2e4a6798b0c1d2e3f40516.message.1234abcd.tmp",
    "quarantine/../keys.json",
    "damaged/manifest.json.12345678.damaged",
    "wal/00000000000000000001.wal",
    "%2e%2e/keys.json",
    "",
  ])("gives nobody %j", async (path) => {
    const { ask } = await createNode();
    const response = await ask(fileAt(path));
    expect([response.status, (await response.json()).message]).toEqual([
      400,
      "path must be the path of a file of a copy",
    ]);
  });

  test("gives nothing to a key that may read and write", async () => {
    const { ask } = await createNode();
    expect([(await ask(COPY, "full")).status, (await ask(fileAt(PART), "full")).status]).toEqual([403, 403]);
  });

  test("is a 404 for a part that a seal has replaced", async () => {
    const { ask, copies } = await createNode();
    const response = await ask(fileAt("archive/latest/00000009-000.parquet"));
    expect([response.status, copies.running]).toEqual([404, 0]);
  });

  test("lets some be copied at once, and refuses the next until one is over", async () => {
    const { ask, copies } = await createNode();
    const taken = await Promise.all(Array.from({ length: COPIES_MAX }, () => ask(fileAt(PART))));
    expect(taken.map(({ status }) => status)).toEqual(new Array(COPIES_MAX).fill(200));
    const refused = await ask(fileAt(PART));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
    await taken[0]!.body!.cancel();
    expect((await ask(fileAt(SEGMENT))).status).toBe(200);
    expect(copies.running).toBe(COPIES_MAX);
  });

  test("reads no further than is taken, and gives up who takes nothing", async () => {
    const { files, app, ask, copies } = await createNode({ stallMs: 20 });
    let reads = 0;
    const readPieces = files.readPieces;
    files.readPieces = async function* (path) {
      for await (const whole of readPieces(path)) {
        for (let at = 0; at < whole.length; at += PIECE_BYTES) {
          reads++;
          yield whole.slice(at, at + PIECE_BYTES);
        }
      }
    };
    const reader = (await ask(fileAt(PART))).body!.getReader();
    await reader.read();
    await untilIdle(copies);
    expect(reads).toBe(1);
    expect(await reader.read().catch((error: Error) => error.message)).toBe(
      "the client stopped reading the file",
    );
    expect(app.faults).toHaveLength(1);
  });

  test("ends with the request, and with the server", async () => {
    const { ask, copies } = await createNode();
    const leaving = new AbortController();
    await ask(fileAt(PART), "operator", { signal: leaving.signal });
    expect(copies.running).toBe(1);
    leaving.abort();
    expect(copies.running).toBe(0);
    const { body } = await ask(fileAt(PART));
    copies.stop();
    expect(copies.running).toBe(0);
    expect(await outcome(body!.getReader().read())).toThrow("the server is stopping");
  });

  test("sends as many bytes as it told of a file that grows, and breaks off one that another replaced", async () => {
    const { files, ask } = await createNode();
    const growing = await ask(fileAt(SEGMENT));
    await files.replace(`/data/${SEGMENT}`, new TextEncoder().encode("an entry and another"));
    expect(await growing.text()).toBe("an entry");
    const shrinking = await ask(fileAt(SEGMENT));
    await files.replace(`/data/${SEGMENT}`, new TextEncoder().encode("short"));
    expect(await outcome(shrinking.text())).toThrow("became shorter");
  });
});
