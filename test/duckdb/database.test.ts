import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../src/duckdb/database.ts";

const directory = mkdtempSync(join(tmpdir(), "duckdb-"));
const database = await openDatabase({
  threads: 2,
  memoryBytes: 500_000_000,
  directories: [directory],
  spillDirectory: directory,
  cachesFiles: false,
});

afterAll(() => {
  database.close();
  rmSync(directory, { recursive: true });
});

/** Goes on for hours. */
const LONG =
  "SELECT count(*)::DOUBLE FROM range($rows) a, range(1000000) b WHERE (a.range * b.range) % 7 = 3";
const ROWS = { rows: 10_000_000 };

/** More than there are threads for statements. */
const CONNECTIONS = 12;

test("closing a connection breaks off its statement, whatever that is about, and costs no thread", async () => {
  for (let index = 0; index < CONNECTIONS; index++) {
    const connection = await database.connect();
    const isStreamed = index % 2 === 1;
    const ended = isStreamed ? consume(connection.stream(LONG, ROWS)) : connection.run(LONG, ROWS);
    const outcome = ended.then(
      () => "answered",
      () => "broken off",
    );
    await new Promise((resolve) => setTimeout(resolve, index * 2)); // Preparing it, and then running it.
    connection.close();
    expect(await outcome).toBe("broken off");
    await expect(connection.run("SELECT 1::DOUBLE")).rejects.toThrow();
  }
  const connection = await database.connect();
  expect((await connection.run("SELECT 1::DOUBLE")).numbers(0)).toEqual(new Float64Array([1]));
  connection.close();
}, 20_000);

test("what does not fit its memory may take a part of the disk, whatever there is", async () => {
  const connection = await database.connect();
  const { texts } = await connection.run("SELECT current_setting('max_temp_directory_size')");
  expect(texts(0)).toEqual(["3.7 GiB"]);
  connection.close();
});

async function consume(all: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of all);
}
