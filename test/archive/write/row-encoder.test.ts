import { expect, test } from "bun:test";
import { join } from "node:path";
import { createInlineRowEncoder, createRowEncoder } from "../../../src/archive/write/row-encoder.ts";
import type { ReportBatch } from "../../../src/model/report-batch.ts";
import { nativeDeno } from "../../support/native-deno.ts";
import { APP, batchOf } from "../../support/reports/batches.ts";

const SCRIPT = join(import.meta.dir, "encode-and-end.ts");

function smallBatch(seed: number): ReportBatch {
  return batchOf(
    Array.from({ length: 50 }, (_, row) => ({
      device_id: `bus-${seed}-${row >> 3}`,
      timestamp: 1_700_000_000_000 + row * 1000,
      latitude: 42.36 + seed / 100 + row / 1000,
      longitude: -71.06,
      brand: row % 2 === 0 ? "Google" : null,
    })),
  );
}

/** Row 0 names a profile that is not there. */
function brokenBatch(): ReportBatch {
  return { ...smallBatch(0), profile: new Uint32Array(50).fill(99) };
}

test("createRowEncoder() answers with what the inline one does, in order, while many wait", async () => {
  const encoder = createRowEncoder();
  const inline = createInlineRowEncoder();
  const seeds = Array.from({ length: 20 }, (_, seed) => seed);
  const found = await Promise.all(seeds.map((seed) => encoder.encode(APP, smallBatch(seed))));
  const expected = await Promise.all(seeds.map((seed) => inline.encode(APP, smallBatch(seed))));
  expect(found).toEqual(expected);
  encoder.close();
});

test("encode() takes the batch over, also where its columns share a buffer", async () => {
  const encoder = createRowEncoder();
  const batch = smallBatch(1);
  const shared = new Uint32Array(100);
  shared.set(batch.profile);
  shared.set(batch.state, 50);
  const sharing = { ...batch, profile: shared.subarray(0, 50), state: shared.subarray(50) };
  expect(await encoder.encode(APP, sharing)).toEqual(
    await createInlineRowEncoder().encode(APP, smallBatch(1)),
  );
  expect(batch.timestampMs.length).toBe(0);
  encoder.close();
});

test("encode() rejects for a batch that can't be encoded, and goes on with the next", async () => {
  const encoder = createRowEncoder();
  const broken = encoder.encode(APP, brokenBatch());
  const good = encoder.encode(APP, smallBatch(1));
  await expect(broken).rejects.toThrow("Cannot encode rows: TypeError");
  expect((await good).length).toBeGreaterThan(0);
  encoder.close();
});

test("close() refuses what waits and what comes later", async () => {
  const encoder = createRowEncoder();
  const waiting = encoder.encode(APP, smallBatch(1));
  encoder.close();
  await expect(waiting).rejects.toThrow("The encoder of rows is closed");
  await expect(encoder.encode(APP, smallBatch(1))).rejects.toThrow("The encoder of rows is closed");
});

for (const [name, command] of [
  ["Bun", [process.execPath, SCRIPT]],
  ["Deno", [nativeDeno(), "run", "-A", SCRIPT]],
] as const) {
  test(`createRowEncoder() on ${name} answers, and lets the process end`, async () => {
    const child = Bun.spawn([...command], { stdout: "pipe", stderr: "pipe" });
    const timer = setTimeout(() => child.kill(), 10_000);
    const [out, error] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    expect({ code: await child.exited, error }).toEqual({ code: 0, error: "" });
    expect(out).toStartWith('"app","bus",1700000000000,42.36,-71.06,');
    clearTimeout(timer);
  }, 15_000);
}
