import type { RefusedMessage } from "../../../../src/clients/refused-message.ts";
import { openReplicated } from "../../../../src/cluster/quarantine/open-replicated.ts";
import { readStreamPosition } from "../../../../src/cluster/quarantine/stream-position.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import type { Quarantine } from "../../../../src/service/quarantine/quarantine.ts";
import type { ShareBounds } from "../../../../src/service/quarantine/shares.ts";
import { createSimulatedFiles, type SimulatedFiles } from "../../../support/disk/simulated-files.ts";
import { seededRandom, seededSalts } from "../../../support/seeded-random.ts";
import { SimulatedServers } from "../../../support/stream/simulated-servers.ts";
import { CALM, SimulatedStream, type StreamWeather } from "../../../support/stream/simulated-stream.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";
import { ANY, APP, DAMAGED, DIRECTORY, refused } from "../../service/quarantine/fixture.ts";

export const GIVE_UP_MS = 500;

export interface WorldOptions {
  readonly seed?: number;
  readonly weather?: StreamWeather;
  readonly messageBytesMax?: number;
  readonly streamBytesMax?: number;
  readonly shares?: ShareBounds;
}

/** Nodes over one simulated stream, each with a disk of its own that outlives it. */
export function openWorld({
  seed = 1,
  weather = CALM,
  messageBytesMax = 64 * 1024,
  streamBytesMax = 1_000_000_000,
  shares,
}: WorldOptions = {}) {
  const time = new VirtualTime();
  const servers = new SimulatedServers("fleet-quarantine", () => time.nowMs());
  servers.bytesMax = streamBytesMax;
  const random = seededRandom(seed);
  const nodes = ["x", "y", "z"].map(
    (name) => new TestNode({ name, time, servers, random, weather, messageBytesMax, shares }),
  );
  return { time, servers, random, nodes, x: nodes[0]!, y: nodes[1]!, z: nodes[2]! };
}

interface TestNodeParts extends Required<Omit<WorldOptions, "seed" | "shares" | "streamBytesMax">> {
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
  /** The last position that it told. */
  position = 0;
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
    const known = await readStreamPosition(this.files, DIRECTORY);
    const options = {
      files: this.files,
      directory: DIRECTORY,
      damagedDirectory: DAMAGED,
      scheduler: new Scheduler(() => 0), // Turns of the real event loop would let the test's time pass.
      segmentBytesMax: 4144 + 2048,
      createSalt: seededSalts(7),
      onDamage: () => undefined,
      ...(shares === undefined ? {} : { shares }),
    };
    const { quarantine } = await openReplicated(options, {
      stream,
      fromMessage: (known?.message ?? 0) + 1,
      lastTaken: known?.lastTaken ?? null,
      idPrefix: `${name}.${this.#starts++}`,
      queueBytesMax: 1_000_000,
      underWayMax: 2,
      giveUpMs: GIVE_UP_MS,
      retryMs: 10,
      timers: time,
      onPosition: (message) => {
        this.position = message;
      },
      onFailed: (error) => void this.failures.push(error),
    });
    this.stream = stream;
    this.quarantine = quarantine;
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
