import { createMetropolis, type MetropolisOptions } from "../../fleets/metropolis.ts";
import { answerParent, type Child, childOptions, startChild } from "../../run/child.ts";
import type { OpenWriter, PeerAddress, PeerWriter } from "../contender.ts";
import { openGeokdbushWriter } from "../geokdbush/peer.ts";
import { openPostgisWriter } from "../postgis/table.ts";
import { openRedisWriter } from "../redis.ts";
import { openTile38Writer } from "../tile38.ts";
import { openOurWriter } from "../wherehouse.ts";
import { PeerMoves } from "./peer-moves.ts";

/* A process that moves devices in a peer, while another queries it. */

const BATCH = 100;
const CONNECTIONS = 16; // As many as the querying process has.

const OPEN: Readonly<Record<PeerAddress["peer"], OpenWriter>> = {
  wherehouse: openOurWriter,
  redis: openRedisWriter,
  tile38: openTile38Writer,
  postgis: openPostgisWriter,
  geokdbush: openGeokdbushWriter,
};

export interface WriterOptions {
  readonly address: PeerAddress;
  readonly metropolis: MetropolisOptions;
  /** Devices with a report since then move. */
  readonly oldestMs: number;
  readonly seed: number;
}

/** Batches at a fixed rate for some seconds, or as fast as possible up to a number of moves. */
export type WriterOrder = Pace | { readonly upTo: number };

interface Pace {
  readonly movesPerSecond: number;
  readonly seconds: number;
}

export interface Written {
  /** The number of moves since the start. */
  readonly moves: number;
  /** The speed of the last order. */
  readonly movesPerSecond: number;
}

export function startWriter(options: WriterOptions): Promise<Child<WriterOrder, Written>> {
  return startChild({ path: import.meta.path, options });
}

if (import.meta.main) live(childOptions());

function live({ address, metropolis, oldestMs, seed }: WriterOptions): void {
  const moves = new PeerMoves(createMetropolis(metropolis), oldestMs, seed);
  let sent = 0;

  async function writeNext(writer: PeerWriter): Promise<void> {
    const first = sent;
    sent += BATCH;
    const nowMs = Date.now();
    await writer.write(Array.from({ length: BATCH }, (_, index) => moves.report(first + index, nowMs)));
  }

  answerParent("ready", async (order: WriterOrder): Promise<Written> => {
    // New connections for each order, since servers close idle ones.
    const writers = await Promise.all(Array.from({ length: CONNECTIONS }, () => OPEN[address.peer](address)));
    const startMs = performance.now();
    const before = sent;
    await writeAll(writers, writeNext, "upTo" in order ? () => (sent < order.upTo ? 0 : null) : paced(order));
    const seconds = (performance.now() - startMs) / 1000;
    for (const writer of writers) await writer.close();
    return { moves: sent, movesPerSecond: (sent - before) / seconds };
  });
}

/** Writes each due batch by a free writer; null ends the order. */
async function writeAll(
  writers: readonly PeerWriter[],
  writeNext: (writer: PeerWriter) => Promise<void>,
  nextDueMs: () => number | null,
): Promise<void> {
  const free = [...writers];
  const underWay = new Set<Promise<void>>();
  for (let dueMs = nextDueMs(); dueMs !== null; dueMs = nextDueMs()) {
    while (performance.now() < dueMs) await Bun.sleep(dueMs - performance.now());
    while (free.length === 0) await Promise.race(underWay);
    const writer = free.pop()!;
    const written = writeNext(writer).finally(() => {
      free.push(writer);
      underWay.delete(written);
    });
    underWay.add(written);
  }
  await Promise.all(underWay);
}

/** Batches become due at a fixed rate from now on. */
function paced({ movesPerSecond, seconds }: Pace): () => number | null {
  const startMs = performance.now();
  let batches = 0;
  return () =>
    performance.now() - startMs < seconds * 1000
      ? startMs + (batches++ * BATCH * 1000) / movesPerSecond
      : null;
}
