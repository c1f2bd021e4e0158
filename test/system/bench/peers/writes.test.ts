import { afterAll, beforeAll, expect, test } from "bun:test";
import type { FullReport } from "../../../../bench/support/fleets/fleet.ts";
import { createMetropolis } from "../../../../bench/support/fleets/metropolis.ts";
import type { Peer } from "../../../../bench/support/peers/contender.ts";
import { startGeokdbush } from "../../../../bench/support/peers/geokdbush/peer.ts";
import { PeerMoves } from "../../../../bench/support/peers/writes/peer-moves.ts";
import { startWriter } from "../../../../bench/support/peers/writes/writer.ts";
import { startChild } from "../../../../bench/support/run/child.ts";
import * as fc from "../../../support/fast-check.ts";
import { outcome } from "../../../support/rejection.ts";
import { until } from "../../../support/until.ts";

const NOW_MS = Date.UTC(2026, 10, 21);
const OLDEST_MS = NOW_MS - 3 * 86_400_000;
const OPTIONS = { devices: 500, seed: 3, nowMs: NOW_MS };
const metropolis = createMetropolis(OPTIONS);

let peer: Peer;
beforeAll(async () => {
  const started = await startGeokdbush({ metropolis, oldestMs: 0, connections: 1 });
  if (!started.ok) throw new Error(started.error);
  peer = started.value;
});
afterAll(() => peer.stop());

test("PeerMoves says where everybody is after any number of moves", () => {
  const moves = new PeerMoves(metropolis, OLDEST_MS, 9);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1500 }), (count) => {
      const expected = new Map<string, FullReport>();
      for (let move = 0; move < count; move++) {
        const report = moves.report(move, NOW_MS + move);
        expected.set(String(report.device_id), report);
      }
      const { latitude, longitude } = moves.after(count);
      for (let index = 0; index < OPTIONS.devices; index++) {
        const moved = expected.get(metropolis.deviceId(index)) ?? metropolis.report(index);
        expect([latitude[index]!, longitude[index]!]).toEqual([
          Number(moved.latitude),
          Number(moved.longitude),
        ]);
        expect(Math.abs(latitude[index]! - metropolis.latitude[index]!)).toBeLessThan(0.001);
        if (metropolis.timestampMs[index]! < OLDEST_MS)
          expect(latitude[index]!).toBe(metropolis.latitude[index]!);
      }
    }),
    { numRuns: 10 },
  );
});

test("a writer tells a peer of so many moves, at a pace or at once, and the peer's answers show them", async () => {
  const options = { address: peer.address, metropolis: OPTIONS, oldestMs: OLDEST_MS, seed: 9 };
  const writer = await startWriter(options);
  try {
    const { moves, movesPerSecond } = await writer.ask({ movesPerSecond: 2000, seconds: 0.3 });
    expect(moves).toBeGreaterThanOrEqual(400);
    expect(moves).toBeLessThanOrEqual(700);
    expect(movesPerSecond).toBeLessThanOrEqual(2500);
    expect(await writer.ask({ upTo: 1000 })).toMatchObject({ moves: 1000 });
  } finally {
    await writer.end();
  }
  const { latitude, longitude } = new PeerMoves(metropolis, OLDEST_MS, 9).after(1000);
  const showsMoves = async () => {
    const connection = await peer.contenders[0]!.connect();
    const answer = (await connection.ask({ latitude: 42.36, longitude: -71.06 })) as Buffer;
    await connection.close();
    const { results } = JSON.parse(answer.toString()) as { results: { location: FullReport }[] };
    expect(results.length).toBeGreaterThan(20);
    return results.every(({ location }) => {
      const index = Number(String(location.device_id).slice("device-".length));
      return Number(location.latitude) === latitude[index] && Number(location.longitude) === longitude[index];
    });
  };
  // The peer builds an index each second: the test waits for one that has the last move.
  await until(showsMoves);
});

test("startChild() tells of a child that ends before it has answered", async () => {
  const path = `${import.meta.dir}/nothing-there.ts`;
  expect(await outcome(startChild({ path, options: null }))).toThrow("nothing-there.ts ended with code 1");
});
