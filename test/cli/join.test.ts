import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { encodeManifest, type Part, parseManifest } from "../../src/archive/files/manifest.ts";
import { type ServedCopies, serveCopies } from "../service/cluster/serve-copies.ts";
import { removeArchiveApps, temporaryDataDir } from "../support/archive-app.ts";
import { finished, runCli, startCli } from "./support/run-cli.ts";
import { startServer } from "./support/start-server.ts";

/** The command `join`, as a process of its own, over HTTP. */

afterAll(removeArchiveApps);

let served: ServedCopies;
let dataDir: string;

beforeEach(async () => {
  served = await serveCopies();
  dataDir = join(temporaryDataDir(), "node");
});
afterEach(() => served.close());

const joinWith = (...more: string[]) =>
  ["join", served.url, "--key", served.keys.operator, "--data-dir", dataDir, ...more] as const;

test("join copies a node, and says what to start", async () => {
  const { code, out, error } = await runCli(...joinWith());
  expect([code, error]).toEqual([0, ""]);
  expect(out).toMatch(
    /^".*node" is now a copy of the node at http:\/\/127\.0\.0\.1:\d+: 7 files, [\d,]+ bytes, up to sequence/,
  );
  expect(out).toEndWith(
    `  bun src/main.ts serve --log nats://10.0.0.1:4222 --stream wherehouse --data-dir ${dataDir}\n`,
  );
  expect(existsSync(join(dataDir, "cluster.json"))).toBe(true);
  const verified = await runCli("verify", "--data-dir", dataDir);
  expect(verified).toMatchObject({ code: 0 });
});

test("join --json tells it to programs, and --again replaces", async () => {
  const first = JSON.parse((await runCli(...joinWith("--json"))).out);
  expect(first).toMatchObject({
    dataDir,
    files: 7,
    copiedFiles: 7,
    problems: [],
    cluster: { stream: "wherehouse" },
  });
  expect(await runCli(...joinWith())).toMatchObject({ code: 1, error: expect.stringContaining("--again") });
  const again = JSON.parse((await runCli(...joinWith("--json", "--again"))).out);
  expect(again).toMatchObject({ nodeId: first.nodeId, copiedFiles: 2 });
});

test("join goes on after it was interrupted", async () => {
  let parts = 0;
  const interrupted = new Promise<void>((resolve) => {
    served.answer = async (_request, path, ask) => {
      if (path?.endsWith(".parquet") && ++parts === 3) {
        resolve();
        await Bun.sleep(60_000);
      }
      return ask();
    };
  });
  const child = startCli(joinWith());
  await interrupted;
  child.kill("SIGINT");
  expect(await finished(child)).toEqual({
    code: 1,
    out: "",
    error: "Interrupted: the same command goes on with what was copied.\n",
  });
  served.answer = null;
  const { out } = await runCli(...joinWith("--json"));
  expect(JSON.parse(out)).toMatchObject({ files: 7, copiedFiles: 5 });
});

test("join is refused by a server that is a single process", async () => {
  const single = join(temporaryDataDir(), "single");
  const key = (
    await runCli("keys", "create", "--app", "a", "--permission", "operate", "--data-dir", single)
  ).out.trim();
  const { child, url } = await startServer(single);
  try {
    const refused = await runCli("join", url, "--key", key, "--data-dir", dataDir);
    expect(refused).toEqual({
      code: 1,
      out: "",
      error: `${url} answered 409: this server is a single process, and no node of a cluster that another could join.\n`,
    });
    expect(existsSync(dataDir)).toBe(false);
  } finally {
    child.kill();
    await child.exited;
  }
});

const HUGE_BYTES = 1_200_000_000;
/** What both processes may take for it, most of it pieces that nobody has collected yet. */
const ROOM_BYTES = 650_000_000;

test("a huge part passes through both processes a piece at a time", async () => {
  const manifestPath = join(served.source.dataDir, "archive", "manifest.json");
  const parsed = parseManifest(readFileSync(manifestPath));
  if (!parsed.ok) throw new Error("the manifest is damaged");
  const file = "latest/00000777-000.parquet";
  const huge = join(served.source.dataDir, "archive", file);
  mkdirSync(join(huge, ".."), { recursive: true });
  writeFileSync(huge, "");
  truncateSync(huge, HUGE_BYTES); // Zeros that take no room.
  const part: Part = { file, rows: 1, bytes: HUGE_BYTES, crc: crcOfZeros(HUGE_BYTES), apps: new Map() };
  writeFileSync(manifestPath, encodeManifest({ ...parsed.value, latest: [part] }));
  const before = process.memoryUsage().rss;
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 20);
  const child = startCli(joinWith("--json"));
  const { out, error } = await finished(child);
  clearInterval(watch);
  expect(error).toBe("");
  expect(JSON.parse(out).bytes).toBeGreaterThan(HUGE_BYTES);
  expect(most - before).toBeLessThan(ROOM_BYTES);
  const { maxRSS } = child.resourceUsage()!;
  expect(maxRSS).toBeLessThan(ROOM_BYTES);
}, 120_000);

function crcOfZeros(bytes: number): number {
  const zeros = new Uint8Array(1_000_000);
  let crc = 0;
  for (let at = 0; at < bytes; at += zeros.length) crc = Bun.hash.crc32(zeros, crc);
  return crc;
}
