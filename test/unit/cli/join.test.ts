import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { removeArchiveApps, temporaryDataDir } from "../../support/archive-app.ts";
import { type ServedCopies, serveCopies } from "../cluster/join/serve-copies.ts";
import { beginCli, runCli, startServer } from "./support/run-cli.ts";

/** The command `join`, over HTTP. */

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
    /^".*node" is now a copy of the node at http:\/\/127\.0\.0\.1:\d+: 11 files, [\d,]+ bytes, up to sequence/,
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
    files: 11,
    copiedFiles: 11,
    problems: [],
    cluster: { stream: "wherehouse" },
  });
  expect(await runCli(...joinWith())).toMatchObject({ code: 1, error: expect.stringContaining("--again") });
  const again = JSON.parse((await runCli(...joinWith("--json", "--again"))).out);
  expect(again).toMatchObject({ nodeId: first.nodeId, copiedFiles: 5 });
});

test("join goes on after it was interrupted", async () => {
  let parts = 0;
  const { promise: joined, resolve: end } = Promise.withResolvers<void>();
  const interrupted = new Promise<void>((resolve) => {
    served.answer = async (_request, path, ask) => {
      if (path?.endsWith(".parquet") && ++parts === 3) {
        resolve();
        await joined;
      }
      return ask();
    };
  });
  const command = beginCli(joinWith());
  await interrupted;
  expect(await command.stop()).toEqual({
    code: 1,
    out: "",
    error: "Interrupted. The same command continues the copy.\n",
  });
  end();
  served.answer = null;
  const { out } = await runCli(...joinWith("--json"));
  expect(JSON.parse(out)).toMatchObject({ files: 11, copiedFiles: 9 });
});

test("join is refused by a server that is a single process", async () => {
  const single = join(temporaryDataDir(), "single");
  const key = (
    await runCli("keys", "create", "--app", "a", "--permission", "operate", "--data-dir", single)
  ).out.trim();
  const server = await startServer(single);
  const { url } = server;
  try {
    const refused = await runCli("join", url, "--key", key, "--data-dir", dataDir);
    expect(refused).toEqual({
      code: 1,
      out: "",
      error: `${url} answered 409: this server is a single process and not a node of a cluster that another node could join.\n`,
    });
    expect(existsSync(dataDir)).toBe(false);
  } finally {
    await server.stop();
  }
});
