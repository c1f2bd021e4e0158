import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EMPTY_MANIFEST, encodeManifest } from "../../../../src/archive/manifest.ts";
import { readClusterFile } from "../../../../src/cluster/cluster-file.ts";
import { type JoinOptions, join as joinCluster } from "../../../../src/cluster/join/join.ts";
import { createPeer } from "../../../../src/cluster/join/peer.ts";
import { ErasureLedger } from "../../../../src/directory/erasure-ledger.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import { FileError, type Files } from "../../../../src/runtime/files.ts";
import { createNodeFiles } from "../../../../src/runtime/node-files.ts";
import { openNodeSqlite } from "../../../../src/runtime/node-sqlite.ts";
import { createArchiveApp, removeArchiveApps, temporaryDataDir } from "../../../support/archive-app.ts";
import { outcome } from "../../../support/rejection.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";
import { type KeyName, TEST_CLUSTER } from "../../../support/test-app.ts";
import { turns } from "../../../support/turns.ts";
import { until } from "../../../support/until.ts";
import { refused } from "../../service/quarantine/fixture.ts";
import { at, contentsOf, report, type ServedCopies, serveCopies, setName } from "./serve-copies.ts";

/** Makes one more node from a copy of another: the copy is whole, of one state, and never half of one. */

afterAll(removeArchiveApps);

const disk = createNodeFiles();
const NO_SIGNAL = new AbortController().signal;

let served: ServedCopies;
let dataDir: string;
let waits: number;
/** Answers of which the client has the head. */
let heads: number;
/** For how long nothing has come passes by hand. */
let time: VirtualTime;

beforeEach(async () => {
  served = await serveCopies();
  dataDir = join(temporaryDataDir(), "node");
  waits = 0;
  heads = 0;
  time = new VirtualTime();
});
afterEach(() => served.close());

function runJoin({
  files = disk,
  again = false,
  key = "operator",
  ...rest
}: Partial<Omit<JoinOptions, "peer">> & { key?: KeyName } = {}) {
  const wait = async () => void waits++;
  const ask = async (...request: Parameters<typeof fetch>) => {
    const answer = await fetch(...request);
    heads++;
    return answer;
  };
  const asked = { url: served.url, key: served.keys[key], ask, wait, stallMs: 500, timers: time };
  return joinCluster({
    files,
    openSqlite: openNodeSqlite,
    dataDir,
    again,
    peer: createPeer({ ...asked, signal: rest.signal ?? NO_SIGNAL }),
    wait,
    signal: NO_SIGNAL,
    take: async (directory) => {
      await disk.makeDirectory(directory);
      return () => {};
    },
    onProgress: () => {},
    ...rest,
  });
}

async function expectJoined(options: Parameters<typeof runJoin>[0] = {}) {
  const joined = await runJoin(options);
  if (!joined.ok) throw new Error(joined.error);
  return joined.value;
}

/** What the copy answers, in the words of a single process: its log lies elsewhere. */
async function contentsOfCopy() {
  const copy = join(temporaryDataDir(), "opened");
  for (const folder of ["archive", "events", "quarantine"])
    cpSync(join(dataDir, folder), join(copy, folder), { recursive: true });
  const app = await createArchiveApp({ dataDir: copy, clock: served.source.clock });
  try {
    expect([app.notes, app.directory.damage, app.directory.tornTails]).toEqual([[], [], []]);
    return await contentsOf(app);
  } finally {
    await app.close();
  }
}

/** Paths of the messages that the peer's quarantine has. */
function quarantined(): string[] {
  const directory = join(served.source.dataDir, "quarantine");
  const names = readdirSync(directory).filter((name) => name.endsWith(".message"));
  return names.sort().map((name) => join(directory, name));
}

/** The peer gets one more message, and has written its file. */
async function quarantineLate() {
  await served.source.directory.quarantine.put([refused("late")]);
  await until(() => quarantined().length === 4);
}

async function expectSameContents() {
  const contents = await contentsOfCopy();
  expect(contents.locations.length).toBeGreaterThan(7);
  expect(contents.devices).toContainEqual({ device_id: "never reported", name: expect.any(String) });
  expect(contents).toEqual(await contentsOf(served.source));
}

/** The archive's Parquet files and its file of profiles. */
const isPart = (path: string | null): path is string =>
  path !== null && /\.parquet$|(^|\/)standing\/[^/]+\.entries$/.test(path);
const parts = () => served.asked.filter(isPart);

const beSingle = () => {
  served.status = null;
};
const beElse = () => {
  served.answer = async () => Response.json({});
};

describe("join()", () => {
  test("refuses an address that leads to several nodes in turn, whichever answers which request", async () => {
    for (let turn = 0; turn < 12; turn++) {
      let asked = 0;
      served.answer = async (_request, _path, ask) => {
        served.status = {
          ...TEST_CLUSTER,
          nodeId: asked++ >= turn ? "0123456789abcdef" : TEST_CLUSTER.nodeId,
        };
        return ask();
      };
      const joined = await runJoin();
      const isOne = turn === 0 || asked <= turn;
      expect([turn, joined.ok || joined.error]).toEqual([
        turn,
        isOne ? true : expect.stringMatching(/leads to several nodes|this is another node/),
      ]);
      if (isOne) break;
    }
  });

  test("copies the manifest again where a seal has put a longer one in its place while it was sent", async () => {
    let cut = 1;
    served.answer = async (_request, path, ask) => {
      const answer = await ask();
      if (path !== "archive/manifest.json" || cut-- !== 1) return answer;
      const bytes = (await answer.bytes()).slice(0, -40);
      return new Response(bytes, { headers: { "wherehouse-bytes": String(bytes.length) } });
    };
    await expectJoined();
    await expectSameContents();
  });

  test("makes the directory of a node that answers as the peer does", async () => {
    const { nodeId, ...told } = await expectJoined();
    expect(told).toMatchObject({ cluster: TEST_CLUSTER, copiedFiles: told.files, problems: [] });
    expect(told.copiedBytes).toBe(told.bytes);
    expect(told.lastSequence).toBe(served.source.directory.archive.manifest.lastSequence);
    expect(readdirSync(dataDir).sort()).toEqual(["archive", "cluster.json", "events", "quarantine"]);
    const { servers, isSecure, stream, created, floor, lastTaken } = TEST_CLUSTER;
    expect(await readClusterFile(disk, dataDir)).toEqual({
      nodeId,
      address: { servers: [...servers], isSecure, stream },
      created,
      floor,
      lastTaken,
    });
    await expectSameContents();
    rmSync(dataDir, { recursive: true });
    expect((await expectJoined()).nodeId).not.toBe(nodeId);
  });

  test("copies the ledger of erasures, whole, as the last file", async () => {
    const { dataDir: source } = served.source;
    const ledger = await ErasureLedger.open(disk, join(source, "erasures.json"));
    const range = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
    const add = async (id: string) => {
      const subject = { kind: "device", appId: "fleet" as AppId, id } as const;
      const erasure = { id: `x_${id}`, sequence: 3, createdMs: 1, block: true, ...range, subject };
      expect((await ledger.add(erasure)).ok).toBe(true);
    };
    await add("one");
    let cuts = 1;
    served.answer = async (_request, path, ask) => {
      const answer = await ask();
      if (path !== "erasures.json" || cuts-- <= 0) return answer;
      const bytes = (await answer.bytes()).slice(0, -9);
      return new Response(bytes, { headers: { "wherehouse-bytes": String(bytes.length) } });
    };
    const isSame = () =>
      readFileSync(join(dataDir, "erasures.json"), "utf8") ===
      readFileSync(join(source, "erasures.json"), "utf8");
    await expectJoined();
    expect([isSame(), served.asked.at(-1)]).toEqual([true, "erasures.json"]);
    await add("other");
    expect(isSame()).toBe(false);
    await expectJoined({ again: true });
    expect(isSame()).toBe(true);
    cuts = 2;
    expect(await runJoin({ again: true })).toMatchObject({
      ok: false,
      error: expect.stringContaining("erasures.json can't be used"),
    });
    await expectSameContents();
  });

  test("asks for every part before it is a node, and for the manifest before the parts that it names", async () => {
    served.answer = async (_request, path, ask) => {
      if (path !== null) expect(existsSync(join(dataDir, "cluster.json"))).toBe(false);
      return ask();
    };
    await expectJoined();
    expect(served.asked[0]).toBe("archive/manifest.json");
    expect(parts().length).toBeGreaterThan(4);
    expect(served.asked.at(-2)).toStartWith("quarantine/");
    expect(served.asked.at(-1)).toBe("events/events.sqlite"); // Else it may be behind what the archive covers.
  });

  test("continues after an interruption, and sends no part twice", async () => {
    let letThrough = 3;
    served.answer = async (_request, path, ask) => {
      if (isPart(path) && letThrough-- <= 0) return new Response("gone away", { status: 502 });
      return ask();
    };
    expect(await runJoin()).toEqual({
      ok: false,
      error: expect.stringMatching(
        /answered 502\. The copied files stay: run the same command again to continue\.$/,
      ),
    });
    expect([readdirSync(dataDir), waits]).toEqual([["joining"], 5]);
    const sent = parts().slice(0, 3);
    served.answer = null;
    served.asked.length = 0;
    const { files, copiedFiles } = await expectJoined();
    expect(files - copiedFiles).toBe(3);
    expect(parts().filter((path) => sent.includes(path))).toEqual([]);
    await expectSameContents();
  });

  test("takes a part anew that the former try left damaged", async () => {
    let letThrough = 2;
    served.answer = async (_request, path, ask) =>
      isPart(path) && letThrough-- <= 0 ? new Response("", { status: 502 }) : ask();
    await runJoin();
    const [one, other] = parts();
    const damaged = readFileSync(join(dataDir, "joining", one!));
    writeFileSync(join(dataDir, "joining", one!), damaged.with(60, damaged[60]! ^ 1));
    writeFileSync(join(dataDir, "joining", other!), "short");
    served.answer = null;
    const { files, copiedFiles } = await expectJoined();
    expect(copiedFiles).toBe(files);
    await expectSameContents();
  });

  test("asks again for a file that broke off or stopped, and takes none that is not whole", async () => {
    const faults: readonly ((whole: Uint8Array<ArrayBuffer>) => BodyInit)[] = [
      (whole) => brokenOff(whole.subarray(0, 100)),
      (whole) => stuck(whole.subarray(0, 100), () => void time.step()),
      (whole) => whole.subarray(0, whole.length - 1),
      (whole) => new Uint8Array([...whole, 0]),
      (whole) => whole.with(70, whole[70]! ^ 8),
    ];
    let index = 0;
    served.answer = async (_request, path, ask) => {
      const response = await ask();
      if (!isPart(path) || index === faults.length) return response;
      const { headers } = response;
      return new Response(faults[index++]!(new Uint8Array(await response.arrayBuffer())), { headers });
    };
    await expectJoined();
    expect(waits).toBe(faults.length);
    await expectSameContents();
  });

  test.each(["archive/day=", "archive/standing/"])(
    "gives up on a file in %s that comes with other bytes each time",
    async (folder) => {
      served.answer = async (_request, path, ask) => {
        const response = await ask();
        if (path?.startsWith(folder) !== true) return response;
        const whole = new Uint8Array(await response.arrayBuffer());
        return new Response(whole.with(70, whole[70]! ^ 8), { headers: response.headers });
      };
      const joined = await runJoin();
      expect(joined).toEqual({
        ok: false,
        error: expect.stringMatching(/^"archive\/.*" arrived with other bytes than were written\./),
      });
      expect(!joined.ok && joined.error).toStartWith(`"${folder}`);
      expect(readdirSync(dataDir).sort()).toEqual(["joining"]);
    },
  );

  test("a seal during the copy replaces parts, and the copy is of the state after it", async () => {
    let hasSealed = false;
    served.answer = async (_request, path, ask) => {
      if (path?.startsWith("archive/latest/") === true && !hasSealed) {
        hasSealed = true;
        const { source } = served;
        await source.store([report("late", at(14, 9)), report("a", at(17, 5))]);
        await setName(source, "never reported", "Depot of the north");
        await source.seal();
        served.status = { ...TEST_CLUSTER, floor: 99 };
      }
      return ask();
    };
    const { lastSequence, cluster } = await expectJoined();
    expect(cluster.floor).toBe(99);
    expect((await readClusterFile(disk, dataDir))?.floor).toBe(99);
    expect(lastSequence).toBe(served.source.directory.archive.manifest.lastSequence);
    const asked = served.asked.filter((path) => path === "archive/manifest.json");
    expect(asked).toHaveLength(2);
    await expectSameContents();
    const names = (directory: string) =>
      readdirSync(join(directory, "archive"), { recursive: true, encoding: "utf8" }).filter(isPart).sort();
    expect(names(dataDir)).toEqual(
      names(served.source.dataDir).filter((name) => !name.startsWith("expired")),
    );
  });

  test("takes what a seal made since, where that has raised the floor", async () => {
    let seals = 0;
    served.answer = async (_request, path, ask) => {
      if (path?.startsWith("quarantine/") === true && seals < 2) {
        seals++;
        const { source } = served;
        await source.store([report(`sealed-${seals}`, at(16, 5 + seals))]);
        await source.seal();
        served.status = { ...TEST_CLUSTER, floor: 100 + seals };
      }
      return ask();
    };
    expect((await expectJoined()).cluster.floor).toBe(102);
    await expectSameContents();
  });

  test("says so where the peer has lost a part, or never has the same archive for long enough", async () => {
    for (const kind of [".parquet", ".entries"]) {
      const lost = (await partsOfSource()).find((path) => path.endsWith(kind))!;
      const path = join(served.source.dataDir, lost);
      renameSync(path, `${path}.lost`);
      expect(await runJoin()).toEqual({
        ok: false,
        error: `The peer has lost "${lost}", which its manifest names: copy another node.`,
      });
      renameSync(`${path}.lost`, path);
    }
    let rounds = 0;
    served.answer = async (_request, path, ask) => {
      if (path === "archive/manifest.json") {
        rounds++;
        const day = { sequence: 1, cleared: 0, lost: [], parts: [partNamed(rounds)] };
        const bytes = encodeManifest({ ...EMPTY_MANIFEST, days: new Map([[20_000 as never, day]]) });
        return new Response(bytes as BodyInit, { headers: { "wherehouse-bytes": String(bytes.length) } });
      }
      return ask();
    };
    expect(await runJoin()).toMatchObject({ ok: false, error: expect.stringContaining("changed 32 times") });
    expect(rounds).toBe(32);
  });

  test("asks for the messages of the quarantine that are there once it has the manifest", async () => {
    served.answer = async (_request, path, ask) => {
      const answer = await ask();
      if (path === "archive/manifest.json") await quarantineLate();
      return answer;
    };
    await expectJoined();
    await expectSameContents();
    expect(served.asked.filter((path) => path.startsWith("quarantine/"))).toHaveLength(4);
  });

  test("names what is damaged of the quarantine, but for what the peer was writing", async () => {
    await served.source.seal();
    await quarantineLate();
    const [sealed, , , unsealed] = quarantined() as [string, string, string, string];
    const [whole, written] = [readFileSync(sealed), readFileSync(unsealed)];
    writeFileSync(unsealed, written.subarray(0, 40));
    expect((await expectJoined()).problems).toEqual([]);
    rmSync(dataDir, { recursive: true });
    writeFileSync(sealed, whole.with(100, whole[100]! ^ 4));
    expect((await expectJoined()).problems).toEqual([
      expect.stringMatching(/quarantine\/\d{16}-\w+.message: \d+ damaged bytes at 0$/),
    ]);
    writeFileSync(sealed, whole);
    writeFileSync(unsealed, written);
  });

  test.each([
    ["a single process", beSingle, {}, "answered 409: this server is a single process"],
    ["an unknown key", () => {}, { key: "revoked" }, "answered 401: the API key was revoked"],
    [
      "a key that may only read",
      () => {},
      { key: "reader" },
      "answered 403: the API key lacks the permission operate",
    ],
    ["something else", beElse, {}, "does not answer like a Wherehouse node"],
    [
      "a lost manifest",
      () => rmSync(join(served.source.dataDir, "archive", "manifest.json")),
      {},
      "answered 503: the archive's manifest is lost",
    ],
  ] as const)("is refused by %s, and leaves nothing behind", async (_what, prepare, options, message) => {
    prepare();
    expect(await runJoin(options)).toEqual({ ok: false, error: expect.stringContaining(message) });
    expect(existsSync(dataDir)).toBe(false);
  });

  test("believes no peer that names other files", async () => {
    const evil = (name: string) => ({ ...partNamed(1), file: name });
    const evilManifests = [
      ...["../../evil.parquet", "latest/../../../evil", "/etc/passwd", "day=2026-01-14/x.parquet"].map(
        (name) => ({ latest: [evil(name)] }),
      ),
      ...["../../evil.entries", "standing/../../00000001.entries", "standing/1.entries", "keys.json"].map(
        (name) => ({ standing: { ...evil(name), sequence: 1 } }),
      ),
    ];
    for (const manifest of evilManifests) {
      served.answer = async (_request, path, ask) => {
        if (path !== "archive/manifest.json") return ask();
        const bytes = encodeManifest({ ...EMPTY_MANIFEST, ...manifest });
        return new Response(bytes as BodyInit, { headers: { "wherehouse-bytes": String(bytes.length) } });
      };
      expect(await runJoin()).toMatchObject({
        ok: false,
        error: expect.stringContaining("manifest is damaged"),
      });
    }
    for (const files of [["quarantine/../../evil"], ["keys.json"], [7], "x"]) {
      served.answer = async (_request, path, ask) =>
        path === null ? Response.json({ ...(await (await ask()).json()), files }) : ask();
      expect(await runJoin()).toMatchObject({ ok: false, error: expect.stringContaining("does not answer") });
    }
    for (const changes of [
      { stream: "../x" },
      { floor: 0 },
      { last_taken: { number: 0, id: "" } },
      { servers: ["a b"] },
      { created: null },
    ]) {
      served.answer = async (_request, _path, ask) => {
        const body = await (await ask()).json();
        return Response.json({ ...body, cluster: { ...body.cluster, ...changes } });
      };
      expect(await runJoin()).toMatchObject({ ok: false, error: expect.stringContaining("does not answer") });
    }
  });

  test("waits for a peer that is busy", async () => {
    let busy = 3;
    served.answer = async (_request, path, ask) =>
      isPart(path) && busy-- > 0 ? Response.json({ message: "busy" }, { status: 503 }) : ask();
    await expectJoined();
    expect(waits).toBe(3);
  });

  test("ends immediately when it is aborted", async () => {
    const stopping = new AbortController();
    served.answer = async (_request, path, ask) => {
      if (!isPart(path)) return ask();
      const body = stuck(new Uint8Array(100), () => stopping.abort(new Error("stopped")));
      return new Response(body, { headers: { "wherehouse-bytes": "1000" } });
    };
    expect(await outcome(runJoin({ signal: stopping.signal }))).toThrow("stopped");
    served.answer = null;
    await expectJoined();
    await expectSameContents();
  });

  test("leaves directories alone that are none of a node", async () => {
    for (const [name, content] of [
      ["keys.json", "{}"],
      ["archive", null],
      ["joining/wal", null],
    ] as const) {
      const path = join(dataDir, name);
      await disk.makeDirectory(content === null ? path : dataDir);
      if (content !== null) writeFileSync(path, content);
      if (name === "joining/wal") {
        await disk.makeDirectory(join(dataDir, "wal"));
        writeFileSync(join(dataDir, "wal", "00000000000000000001.wal"), "a log");
      }
      const before = readdirSync(dataDir, { recursive: true });
      expect(await runJoin()).toEqual({
        ok: false,
        error: `"${dataDir}" is not empty: a node needs a new directory.`,
      });
      expect(readdirSync(dataDir, { recursive: true })).toEqual(before);
      rmSync(dataDir, { recursive: true });
    }
    expect(served.asked).toEqual([]);
  });
});

describe("join(), again", () => {
  test("replaces a node's archive, keeps its id, and takes from it what is alike", async () => {
    const { nodeId, files } = await expectJoined();
    await disk.makeDirectory(join(dataDir, "damaged"));
    expect(await runJoin()).toMatchObject({
      ok: false,
      error: expect.stringContaining("already belongs to a node"),
    });
    const { source } = served;
    await source.store([report("c", at(17, 7))]);
    await setName(source, "c", "Ferry");
    await source.seal();
    served.status = { ...TEST_CLUSTER, floor: 50 };
    const replaced = await expectJoined({ again: true });
    expect(replaced.nodeId).toBe(nodeId);
    expect(replaced.copiedFiles).toBeLessThan(files - 1);
    expect(readdirSync(dataDir).sort()).toEqual([
      "archive",
      "cluster.json",
      "damaged",
      "events",
      "quarantine",
    ]);
    expect((await readClusterFile(disk, dataDir))?.floor).toBe(50);
    await expectSameContents();
  });

  test("leaves the node of another stream as it was", async () => {
    await expectJoined();
    const before = readFileSync(join(dataDir, "cluster.json"));
    for (const changes of [{ created: "2026-09-09T00:00:00Z" }, { stream: "other" }]) {
      served.status = { ...TEST_CLUSTER, ...changes };
      expect(await runJoin({ again: true })).toMatchObject({
        ok: false,
        error: expect.stringContaining("of another stream"),
      });
    }
    expect(readFileSync(join(dataDir, "cluster.json"))).toEqual(before);
    served.status = TEST_CLUSTER;
    await expectSameContents();
  });
});

/** A disk that fails after a number of changes. */
function failingAfter(changes: number): { readonly files: Files; readonly hasFailed: () => boolean } {
  let left = changes;
  const change = <Args extends unknown[], Value>(act: (...args: Args) => Promise<Value>) => {
    return (...args: Args) =>
      left-- > 0 ? act(...args) : Promise.reject<Value>(new FileError("change", String(args[0]), "EIO"));
  };
  const files = {
    ...disk,
    makeDirectory: change(disk.makeDirectory),
    openAppend: change(disk.openAppend),
    replace: change(disk.replace),
    rename: change(disk.rename),
    link: change(disk.link),
    remove: change(disk.remove),
    removeAll: change(disk.removeAll),
    syncDirectory: change(disk.syncDirectory),
  };
  return { files, hasFailed: () => left < 0 };
}

test.each([false, true])(
  "wherever it is cut off, it is no node or a whole one, and the next try makes it one (again: %p)",
  async (again) => {
    const { source } = served;
    if (again) {
      await expectJoined();
      await source.store([report("c", at(17, 7))]);
      await setName(source, "c", "Ferry");
      await source.seal();
    }
    const before = join(temporaryDataDir(), "before");
    if (again) cpSync(dataDir, before, { recursive: true });
    const manifestOf = (directory: string) =>
      readFileSync(join(directory, "archive", "manifest.json"), "utf8");
    let cuts = 0;
    for (let changes = 0; ; changes += again ? 1 : 2) {
      rmSync(dataDir, { recursive: true, force: true });
      if (again) cpSync(before, dataDir, { recursive: true });
      const { files, hasFailed } = failingAfter(changes);
      const joined = await runJoin({ files, again });
      const isNode = existsSync(join(dataDir, "cluster.json"));
      if (isNode) {
        const isFormer = again && manifestOf(dataDir) === manifestOf(before);
        expect(isFormer || manifestOf(dataDir) === manifestOf(source.dataDir)).toBe(true);
        expect(partsIn(dataDir)).toEqual(isFormer ? partsIn(before) : partsIn(source.dataDir));
      }
      expect(isNode || !joined.ok).toBe(true);
      if (!hasFailed()) break;
      cuts++;
      if (!isNode || again) await expectJoined({ again });
      expect(partsIn(dataDir)).toEqual(partsIn(source.dataDir));
      expect(manifestOf(dataDir)).toBe(manifestOf(source.dataDir));
    }
    expect(cuts).toBeGreaterThan(20);
    await expectSameContents();
  },
  60_000,
);

function partsIn(directory: string): Record<string, string> {
  const archive = join(directory, "archive");
  const names = readdirSync(archive, { recursive: true, encoding: "utf8" }).filter(isPart).sort();
  return Object.fromEntries(
    names
      .filter((name) => !name.startsWith("expired"))
      .map((name) => [name, Bun.hash(readFileSync(join(archive, name))).toString()]),
  );
}

async function partsOfSource(): Promise<string[]> {
  return Object.keys(partsIn(served.source.dataDir)).map((name) => `archive/${name}`);
}

function partNamed(seal: number) {
  const file = `latest/${String(seal).padStart(8, "0")}-999.parquet`;
  return { file, rows: 1, bytes: 5, crc: 1, apps: new Map(), columns: "" };
}

/** A body whose connection breaks. */
function brokenOff(bytes: Uint8Array<ArrayBuffer>): ReadableStream {
  const headsBefore = heads; // Files are taken one after the other.
  return new ReadableStream({
    start: (controller) => controller.enqueue(bytes),
    pull: async () => {
      await until(() => heads > headsBefore); // Bun itself asks again for an answer that has no beginning.
      throw new Error("cut");
    },
  });
}

/** A body that never ends; `onSent` is called once its bytes are on their way. */
function stuck(bytes: Uint8Array<ArrayBuffer>, onSent: () => void): ReadableStream {
  return new ReadableStream({
    start: (controller) => controller.enqueue(bytes),
    async pull() {
      await turns();
      onSent();
      await new Promise(() => {});
    },
  });
}
