import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { resolve } from "node:path";
import { type NatsCluster, startNatsCluster } from "../../support/nats/nats-cluster.ts";
import { hasNatsServer } from "../../support/nats/nats-server.ts";

/*
 * Goal: a node is to its clients what a single process is. Method: tests that know the program from outside alone, by
 * its commands, over HTTP and by kill -9, run once more, with a stream for a log. Directories that a command has filled
 * move into the cluster by `cluster init` before they are served.
 */

const ROOT = resolve(import.meta.dir, "../../..");

const FILES = ["answers", "archive", "clients", "quarantine"];

/** These look into the files of a log, or seal from beside: a node's directory has none, and refuses that. */
const OF_A_LOG_IN_FILES = [
  "while the log is replayed",
  "a seal that is interrupted or killed",
  "seal beside a running server is refused",
];

describe.skipIf(!hasNatsServer("the black-box tests against a node"))("against a node", () => {
  let cluster: NatsCluster;

  beforeAll(async () => {
    cluster = await startNatsCluster({ count: 1 });
  });

  afterAll(() => cluster.close());

  for (const file of FILES) {
    test(`what holds for a single process holds for a node: ${file}`, async () => {
      const pattern = `^on Bun(?!.*(${OF_A_LOG_IN_FILES.join("|")}))`;
      const path = `./test/system/process/${file}.test.ts`;
      const child = Bun.spawn([process.execPath, "test", "--timeout=120000", "-t", pattern, path], {
        cwd: ROOT,
        env: { ...process.env, WHEREHOUSE_TEST_LOG: `nats://${cluster.servers[0]}` },
        stdout: "pipe",
        stderr: "pipe",
      });
      const texts = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ]);
      const said = texts.slice(0, 2).join("\n");
      if (child.exitCode !== 0) console.error(said.replaceAll(/^ *\d+ (pass|fail)$/gm, "of them: $&"));
      expect(child.exitCode).toBe(0);
      expect(said).toMatch(/^ *[1-9]\d* pass$/m);
    });
  }
});
