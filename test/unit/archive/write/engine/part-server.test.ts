import { expect, test } from "bun:test";
import { openDatabase } from "../../../../../src/archive/duckdb/database.ts";
import { WORKING } from "../../../../../src/archive/write/engine/messages.ts";
import { servePartEngine } from "../../../../../src/archive/write/engine/part-server.ts";
import type { NativeWork } from "../../../../../src/runtime/helper/helper.ts";
import { LOOK_MS } from "../../../../../src/runtime/helper/pulse.ts";
import { nativeWork } from "../../../../../src/runtime/helper/spawn-helper.ts";
import { createNodeFiles } from "../../../../../src/runtime/node-files.ts";
import { VirtualTime } from "../../../../support/stream/virtual-time.ts";
import { SMALL_DATABASE } from "./part-maker.ts";

/** A process that is asked for nothing, and what it says of its work. */
function serve(work: { -readonly [Name in keyof NativeWork]: NativeWork[Name] }) {
  const time = new VirtualTime();
  const said: unknown[] = [];
  let ask: (message: unknown) => void = () => undefined;
  const port = {
    send: (message: unknown) => void said.push(message),
    onMessage: (take: (message: unknown) => void) => {
      ask = take;
    },
    work: () => ({ ...work }),
  };
  servePartEngine(port, createNodeFiles(), time);
  const looks = async (count: number) => {
    for (let look = 0; look < count; look++) await time.until(time.wait(LOOK_MS));
    return said.splice(0);
  };
  return { looks, ask: (message: unknown) => ask(message), said };
}

test("a process says that it works while threads of libraries take the processor, or blocks move", async () => {
  const work = { cpuMs: 1000, diskBlocks: 5 };
  const { looks } = serve(work);
  expect(await looks(20)).toEqual([]);
  work.diskBlocks++;
  expect(await looks(20)).toEqual([WORKING]);
  work.cpuMs += 0.002 * 40 * LOOK_MS; // Of a core that a hundred want.
  expect(await looks(2)).toEqual([WORKING]);
});

test("what timers and collectors take is no work, however long it adds up", async () => {
  const work = { cpuMs: 0, diskBlocks: 0 };
  const { looks } = serve(work);
  for (let look = 0; look < 100; look++) {
    work.cpuMs += 0.0006 * LOOK_MS;
    expect(await looks(1)).toEqual([]);
  }
});

test("work counts from the last request on, however long there was none before", async () => {
  const work = { cpuMs: 0, diskBlocks: 0 };
  const { looks, ask, said } = serve(work);
  await looks(1000);
  ask({ id: 1, request: { kind: "connect", connection: 1 } }); // Answered: no database is open.
  await looks(0);
  work.cpuMs += 0.003 * LOOK_MS;
  expect(await looks(1)).toContain(WORKING);
  expect(said).toEqual([]);
});

test("nativeWork() sees what DuckDB's threads do", async () => {
  const database = await openDatabase(SMALL_DATABASE);
  const connection = await database.connect();
  const before = nativeWork();
  for (let after = before; after.cpuMs < before.cpuMs + 50; after = nativeWork())
    await connection.run("SELECT sum(hash(i)) FROM range(1000000) r(i)");
  connection.close();
  database.close();
});
