import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../../../src/archive/duckdb/database.ts";
import { nextTurn } from "../../../../src/lib/schedule/timers.ts";
import { outcome } from "../../../support/rejection.ts";
import { until } from "../../../support/until.ts";

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
const ROWS = { rows: 10_000_000n };

/** More than there are threads for statements. */
const CONNECTIONS = 12;

test("closing a connection breaks off its statement, whatever that is about, and costs no thread", async () => {
  for (let index = 0; index < CONNECTIONS; index++) {
    const connection = await database.connect();
    const isStreamed = index % 2 === 1;
    const statement = isStreamed ? consume(connection.stream(LONG, ROWS)) : connection.run(LONG, ROWS);
    const ended = statement.then(
      () => "answered",
      (error: Error) => error.name,
    );
    // Preparing it, and then running it: the processor time of its threads tells how far it is.
    const { user } = process.cpuUsage();
    await until(() => process.cpuUsage().user - user >= index * 2000);
    connection.close();
    expect(await ended).toBe("AbortError");
    expect(await outcome(connection.run("SELECT 1::DOUBLE"))).toThrow();
  }
  const connection = await database.connect();
  expect((await connection.run("SELECT 1::DOUBLE")).numbers(0)).toEqual(new Float64Array([1]));
  connection.close();
});

test("a database may be closed under statements, which go on until they are broken off", async () => {
  for (let turns = 0; turns < CONNECTIONS; turns++) {
    const closed = await openDatabase({
      ...{ threads: 2, memoryBytes: 100_000_000, directories: [directory] },
      ...{ spillDirectory: null, cachesFiles: false },
    });
    const connection = await closed.connect();
    const stop = new AbortController();
    const ended = connection.run(LONG, ROWS, stop.signal).then(
      () => "answered",
      (error: Error) => error.name,
    );
    for (let turn = 0; turn < turns; turn++) await nextTurn(); // Preparing it, and then running it.
    closed.close();
    stop.abort();
    expect(await ended).toBe("AbortError");
    connection.close();
  }
  const connection = await database.connect();
  expect((await connection.run("SELECT 1::DOUBLE")).numbers(0)[0]).toBe(1);
  connection.close();
});

test("a signal breaks off a statement, while it runs and between two chunks of its result", async () => {
  for (const isStreamed of [false, true]) {
    const connection = await database.connect();
    const gone = new AbortController();
    const ended = isStreamed
      ? consume(connection.stream(LONG, ROWS, gone.signal))
      : connection.run(LONG, ROWS, gone.signal);
    setImmediate(() => gone.abort());
    expect(await nameOfFailure(ended)).toBe("AbortError");
    connection.close();
  }
  const connection = await database.connect();
  const gone = new AbortController();
  let pieces = 0;
  const reading = (async () => {
    for await (const _ of connection.stream(
      "SELECT * FROM range($rows)",
      { rows: 1_000_000n },
      gone.signal,
    )) {
      pieces += 1;
      gone.abort();
    }
  })();
  expect(await nameOfFailure(reading)).toBe("AbortError");
  expect(pieces).toBe(1);
  connection.close();
});

function nameOfFailure(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "answered",
    (error: Error) => error.name,
  );
}

test("what does not fit its memory may take a part of the disk, whatever there is", async () => {
  const connection = await database.connect();
  const { texts } = await connection.run("SELECT current_setting('max_temp_directory_size')");
  expect(texts(0)).toEqual(["3.7 GiB"]);
  connection.close();
});

/** A sum that depends on the order of its rows, which do not fit 20 MB while they are sorted. */
function sortedSum(seed: number): string {
  return `SELECT sum((x % 1009) * (place % 1013))::DOUBLE
    FROM (SELECT x, row_number() OVER () AS place FROM (
      SELECT i AS x, hash(i * 7) % 1000003 AS more, hash(i * 13) AS much FROM range(1000000) r(i) ORDER BY hash(i + ${seed})))`;
}

test("two that spill into one directory at a time keep their rows apart", async () => {
  const databases = await Promise.all(
    [0, 1].map(() =>
      openDatabase({
        threads: 1,
        memoryBytes: 20_000_000,
        directories: [directory],
        spillDirectory: directory,
        cachesFiles: false,
      }),
    ),
  );
  const connections = await Promise.all(databases.map((each) => each.connect()));
  const sumOf = async (index: number) => (await connections[index]!.run(sortedSum(index))).numbers(0)[0]!;
  const alone = [await sumOf(0), await sumOf(1)];
  expect<number[]>(await Promise.all([sumOf(0), sumOf(1)])).toEqual(alone);
  for (const connection of connections) connection.close();
  for (const each of databases) each.close();
  expect(readdirSync(directory)).toEqual([]);
});

async function consume(all: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of all);
}
