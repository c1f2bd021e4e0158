import type { RefusedMessage } from "../../../../src/clients/refused-message.ts";
import { openStreamLog } from "../../../../src/cluster/log/open-stream-log.ts";
import type { StreamLog } from "../../../../src/cluster/log/stream-log.ts";
import type { TakenMessage } from "../../../../src/cluster/stream/stream.ts";
import { createHotStore } from "../../../../src/hot/hot-store.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import { applyToMemory } from "../../../../src/service/ingest/apply-entry.ts";
import { followLog } from "../../../../src/service/ingest/memory-follower.ts";
import {
  createQuarantineAppend,
  createStandingAppend,
} from "../../../../src/service/ingest/standing-append.ts";
import type { MessageStore } from "../../../../src/service/quarantine/message-store.ts";
import { Quarantine } from "../../../../src/service/quarantine/quarantine.ts";
import type { ShareBounds } from "../../../../src/service/quarantine/shares.ts";
import { createSimulatedFiles, type SimulatedFiles } from "../../../support/disk/simulated-files.ts";
import { NO_SEALS } from "../../../support/empty-archive.ts";
import { seededRandom } from "../../../support/seeded-random.ts";
import { SimulatedServers } from "../../../support/stream/simulated-servers.ts";
import { CALM, SimulatedStream, type StreamWeather } from "../../../support/stream/simulated-stream.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";
import { ANY, APP, openStandingMessages, refused, sealMessages } from "./fixture.ts";

export const GIVE_UP_MS = 500;

export interface WorldOptions {
  readonly seed?: number;
  readonly weather?: StreamWeather;
  readonly messageBytesMax?: number;
  readonly shares?: ShareBounds;
}

/** Nodes over one simulated stream, each with a disk of its own that outlives it. */
export function openWorld({
  seed = 1,
  weather = CALM,
  messageBytesMax = 64 * 1024,
  shares,
}: WorldOptions = {}) {
  const time = new VirtualTime();
  const servers = new SimulatedServers("fleet", () => time.nowMs());
  const random = seededRandom(seed);
  const nodes = ["x", "y", "z"].map(
    (name) => new TestNode({ name, time, servers, random, weather, messageBytesMax, shares }),
  );
  return { time, servers, random, nodes, x: nodes[0]!, y: nodes[1]!, z: nodes[2]! };
}

interface TestNodeParts extends Required<Omit<WorldOptions, "seed" | "shares">> {
  readonly name: string;
  readonly time: VirtualTime;
  readonly servers: SimulatedServers;
  readonly random: () => number;
  readonly shares: ShareBounds | undefined;
}

export class TestNode {
  files: SimulatedFiles = createSimulatedFiles();
  stream!: SimulatedStream;
  quarantine: Quarantine | null = null;
  readonly failures: unknown[] = [];
  /** The first message that its next start needs. */
  floor = 1;
  messages!: MessageStore;
  #lastTaken: TakenMessage | null = null;
  #wal!: StreamLog;
  readonly #parts: TestNodeParts;
  #starts = 0;

  constructor(parts: TestNodeParts) {
    this.#parts = parts;
  }

  get isUp(): boolean {
    return this.quarantine !== null;
  }

  async start(): Promise<void> {
    const { name, time, servers, random, weather, messageBytesMax, shares } = this.#parts;
    const stream = new SimulatedStream({ servers, time, random, weather, messageBytesMax });
    const scheduler = new Scheduler(() => 0); // Turns of the real event loop would let the test's time pass.
    const { messages } = await openStandingMessages(this.files, shares);
    const hot = createHotStore(scheduler);
    const { wal } = await openStreamLog({
      stream,
      fromMessage: this.floor,
      lastTaken: this.#lastTaken,
      coveredSequence: 0,
      idPrefix: `${name}.${this.#starts++}`,
      queueBytesMax: 8_000_000,
      underWayMax: 2,
      giveUpMs: GIVE_UP_MS,
      retryMs: 10,
      timers: time,
      onEntry: (entry) => applyToMemory({ hot, messages }, entry),
      onFloor: async (message, lastTaken) => {
        this.floor = message;
        this.#lastTaken = lastTaken;
      },
      onFailed: (error) => void this.failures.push(error),
    });
    const memory = followLog({ log: wal, hot, messages, schedule: NO_SEALS, scheduler });
    this.stream = stream;
    this.messages = messages;
    this.#wal = wal;
    this.quarantine = new Quarantine({
      messages,
      append: createQuarantineAppend(createStandingAppend({ log: wal, memory, onRefusal: () => {} })),
      hasFailed: () => wal.state === "failed",
      entryBytesMax: wal.entryBytesMax,
      source: name,
      scheduler,
      timers: time,
      sealSoon: () => {},
    });
  }

  /** Does for the quarantine what a seal does, and gives up what it covers. Throws a `FileError`. */
  async seal(): Promise<void> {
    await sealMessages(this.files, this.messages, this.#wal);
  }

  put(body: string | Uint8Array, changes: Partial<RefusedMessage> = {}) {
    const own = typeof body === "string" ? {} : { body };
    return this.quarantine!.put([refused(typeof body === "string" ? body : "bytes", { ...own, ...changes })]);
  }

  delete(...ids: readonly string[]) {
    return this.quarantine!.delete(APP, ids);
  }

  async stop(): Promise<void> {
    const { quarantine } = this;
    this.quarantine = null;
    await quarantine!.close();
    await this.#wal.close();
    await this.stream.close();
  }

  /** As a power cut does: what was not synced is gone. */
  async kill(): Promise<void> {
    this.quarantine = null;
    this.files = this.files.crash();
    await this.stream.close();
  }

  ids(): string[] {
    return this.quarantine!.list(APP, ANY, 0, 10_000).entries.map(({ id }) => id);
  }

  /** The newest first, as the page shows them. */
  shown() {
    const { entries } = this.quarantine!.list(APP, ANY, 0, 10_000);
    return entries.map(({ id, deviceId, count, arrivedMs, lastArrivedMs, bodyBytes }) => ({
      id,
      deviceId,
      count,
      arrivedMs,
      lastArrivedMs,
      bodyBytes,
    }));
  }
}
