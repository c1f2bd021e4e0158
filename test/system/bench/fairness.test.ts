import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openHostile } from "../../../bench/support/fairness/attack/hostile-connection.ts";
import { longestTurnMs } from "../../../bench/support/fairness/long-turns.ts";
import { SHAPES } from "../../../bench/support/fairness/shapes.ts";
import { fairnessSummary, fairnessTables } from "../../../bench/support/fairness/table.ts";
import { readResults } from "../../../bench/support/figures/results.ts";
import { turns } from "../../support/turns.ts";

const ROOT = join(import.meta.dir, "../../..");

const folder = mkdtempSync(join(tmpdir(), "wherehouse-fairness-test-"));
const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true });
});

/** A server that says these pieces, one after the other, to whoever connects, and then breaks off. */
async function say(...pieces: readonly string[]): Promise<string> {
  const server = createServer(async (socket) => {
    for (const piece of pieces) {
      socket.write(piece);
      await turns(); // The client, in the same process, reads each piece by itself.
    }
    socket.destroy();
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

test("a hostile connection finds its answers, however they come, and is told when no more will", async () => {
  const url = await say(
    "HTTP/1.1 200 OK\r\nContent-Le",
    "ngth: 5\r\n\r\nhel",
    "loHTTP/1.1 429 Too Many\r\ncontent-length: 2\r\n\r\n{}HTTP/1.1 204 No Content\r\n",
    "\r\nHTTP/1.1 500 Oh\r\ncontent-length: 100\r\n\r\nhalf",
  );
  const connection = (await openHostile(url))!;
  const statuses = [];
  for (let asked = 0; asked < 4; asked++) statuses.push(await connection.answer());
  expect(statuses).toEqual([200, 429, 204, null]);
  expect(connection.isClosed).toBe(true);
  expect(await connection.answer()).toBeNull();
  await connection.write("nobody hears it");
});

test("openHostile() gives null where nobody listens", async () => {
  const url = await say();
  await new Promise((resolve) => servers.at(-1)!.close(resolve));
  expect(await openHostile(url)).toBeNull();
});

test("longestTurnMs() is the longest that ended since then", () => {
  const path = join(folder, "turns.txt");
  expect(longestTurnMs(path, 0)).toBe(0);
  writeFileSync(path, "1000 900.0\n2000 20.5\n3000 30.1\n");
  expect(longestTurnMs(path, 2000)).toBe(30.1);
  expect(longestTurnMs(path, 3001)).toBe(0);
});

test("shapes have names of their own, and there are more than 25", () => {
  expect(new Set(SHAPES.map(({ name }) => name)).size).toBe(SHAPES.length);
  expect(SHAPES.length).toBeGreaterThan(25);
});

test("bench/README.md shows how many rows of the last whole run reach each bound", () => {
  const results = readResults(join(ROOT, "bench/results/fairness.json"));
  if (!results.ok) throw new Error(results.error);
  expect(readFileSync(join(ROOT, "bench/README.md"), "utf8")).toContain(fairnessSummary(results.value));
});

test("fairnessTables() has a row for each shape and runtime, and no cell is empty", () => {
  const results = readResults(join(ROOT, "bench/results/fairness.json"));
  if (!results.ok) throw new Error(results.error);
  const rows = fairnessTables(results.value)
    .split("\n")
    .filter((row) => row.startsWith("| `"));
  expect(rows.length).toBe(104);
  expect(rows.filter((row) => / \| +\|/.test(row))).toEqual([]);
});
