import { ENTRY_LENGTH_BYTES, encodeGroup } from "../../../../src/cluster/log/group-message.ts";
import { type OpenStreamLogOptions, openStreamLog } from "../../../../src/cluster/log/open-stream-log.ts";
import type { TakenMessage } from "../../../../src/cluster/stream/stream.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import { createEntryEncoder, type LogEntry } from "../../../../src/wal/entry/entry.ts";
import type { LogFollower } from "../../../../src/wal/log.ts";
import { batchIn } from "../../../support/reports/batches.ts";
import { seededRandom } from "../../../support/seeded-random.ts";
import { SimulatedServers } from "../../../support/stream/simulated-servers.ts";
import { SimulatedStream, type StreamWeather } from "../../../support/stream/simulated-stream.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";
import { APP, namedBatch } from "../../wal/fixture.ts";

export const GIVE_UP_MS = 500;

export function createServers(firstMessage = 1) {
  const time = new VirtualTime();
  return { time, servers: new SimulatedServers("wherehouse", () => time.nowMs(), firstMessage) };
}

const encoder = createEntryEncoder();

/** A message of another node, with an entry of each name; returns its number. */
export function keepNamed(servers: SimulatedServers, ...names: readonly string[]): number {
  const frames = names.map((name) => encoder.encode(APP as AppId, namedBatch(name), ENTRY_LENGTH_BYTES));
  return servers.keepForeign(encodeGroup(frames));
}

/** `sequence name`, as tests of the file log have it. */
export function nameOf(entry: LogEntry): string {
  const { texts, device } = batchIn(entry);
  return `${entry.sequence} ${texts[device[0]!]}`;
}

export interface TestLogOptions extends Partial<OpenStreamLogOptions> {
  readonly servers: SimulatedServers;
  readonly time: VirtualTime;
  readonly node?: string;
  readonly seed?: number;
  readonly weather?: StreamWeather;
  readonly messageBytesMax?: number;
}

/** A node's log, and the notifications so far. */
export function createTestLog(options: TestLogOptions) {
  const { servers, time, node = "n", seed = 1, weather, messageBytesMax, ...given } = options;
  const stream = new SimulatedStream({
    servers,
    time,
    random: seededRandom(seed),
    ...(weather === undefined ? {} : { weather }),
    ...(messageBytesMax === undefined ? {} : { messageBytesMax }),
  });
  const told = {
    replayed: [] as string[],
    floors: [] as number[],
    taken: [] as (TakenMessage | null)[],
    failures: [] as unknown[],
  };
  const opening = openStreamLog({
    stream,
    fromMessage: 1,
    lastTaken: null,
    coveredSequence: 0,
    idPrefix: node,
    queueBytesMax: 10_000_000,
    underWayMax: 4,
    giveUpMs: GIVE_UP_MS,
    retryMs: 10,
    timers: time,
    onEntry: (entry) => void told.replayed.push(nameOf(entry)),
    async onFloor(message, lastTaken) {
      told.floors.push(message);
      told.taken.push(lastTaken);
    },
    onFailed: (error) => void told.failures.push(error),
    ...given,
  });
  opening.catch(() => undefined); // The caller handles the rejection.
  return { stream, told, opening };
}

/** Follows the log; returns later notifications. */
export function followed(wal: { follow(follower: LogFollower): void }) {
  const taken: string[] = [];
  wal.follow({
    makeRoomFor: async () => undefined,
    async take(entry, isOwn) {
      taken.push(`${nameOf(entry)}${isOwn ? " (own)" : ""}`);
    },
  });
  return taken;
}
