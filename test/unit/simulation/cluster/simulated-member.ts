import {
  type ClusterFile,
  createClusterFile,
  readClusterFile,
  writeClusterFile,
} from "../../../../src/cluster/cluster-file.ts";
import type { StreamLog } from "../../../../src/cluster/log/stream-log.ts";
import { readStreamPosition } from "../../../../src/cluster/quarantine/stream-position.ts";
import type { TakenMessage } from "../../../../src/cluster/stream/stream.ts";
import { directoryPaths } from "../../../../src/directory/paths.ts";
import { assert } from "../../../../src/lib/assert.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import type { Files } from "../../../../src/runtime/files.ts";
import { SIMULATED_DATA_DIR } from "../../../support/disk/mirrored-disk.ts";
import { batchOf } from "../../../support/reports/batches.ts";
import { seededSalts } from "../../../support/seeded-random.ts";
import { CALM, SimulatedStream } from "../../../support/stream/simulated-stream.ts";
import type { SentPost } from "../../../support/stream/stream-model.ts";
import { createRunDisk, type RunDisk } from "../disk/disk.ts";
import type { SimulationEngine } from "../run/engine.ts";
import { closeService, openService, type RunService } from "../run/service.ts";
import type { ClusterWorld } from "./cluster-world.ts";

const QUARANTINE = directoryPaths(SIMULATED_DATA_DIR).quarantine;

/** A node between a start and its end. */
interface MemberProcess {
  readonly stream: SimulatedStream;
  readonly quarantineStream: SimulatedStream;
  readonly service: RunService;
}

/** One node with a disk of its own, through all its crashes and restarts. */
export class SimulatedMember {
  readonly name: string;
  readonly disk: RunDisk;
  /** What the others know to be needed by it: durable here before anybody is told. */
  toldFloor = 1;
  readonly failures: unknown[] = [];
  readonly #world: ClusterWorld;
  #process: MemberProcess | null = null;
  #file: ClusterFile | null = null;
  #starts = 0;

  constructor(name: string, world: ClusterWorld, engine: SimulationEngine) {
    this.name = name;
    this.#world = world;
    this.disk = createRunDisk(engine);
  }

  get isUp(): boolean {
    return this.#process !== null;
  }

  get service(): RunService {
    return this.#running.service;
  }

  get stream(): SimulatedStream {
    return this.#running.stream;
  }

  get log(): StreamLog {
    return this.#running.service.directory.log as StreamLog;
  }

  get #running(): MemberProcess {
    assert(this.#process !== null, "the node is up");
    return this.#process;
  }

  /** Rejects where its disk dies on the way. */
  async start(): Promise<void> {
    const { servers, quarantineServers, time, draws, clock, retention, weather } = this.#world;
    const machine = this.disk.boot();
    const stream = new SimulatedStream({ servers, time, random: draws.next, weather });
    const calm = { time, random: () => 0, weather: CALM };
    const quarantineStream = new SimulatedStream({ servers: quarantineServers, ...calm });
    try {
      this.#file = await this.#readFile(machine.files, stream);
      assert(this.#file.floor >= this.toldFloor, "a floor that others were told of is durable");
      const own = () => this.#process?.stream === stream;
      const idPrefix = `${this.name}${this.#starts++}`;
      const onFailed = (error: unknown) => {
        if (own() && !this.disk.isDead) this.failures.push(error);
      };
      const quarantined = await readStreamPosition(machine.files, QUARANTINE);
      const service = await openService({
        machine,
        clock,
        retention,
        segmentBytesMax: 1024 * 1024,
        createSalt: seededSalts(this.#starts),
        planted: this.#world.planted,
        stream: {
          stream,
          fromMessage: this.#file.floor,
          lastTaken: this.#file.lastTaken,
          idPrefix,
          timers: time,
          onFloor: (floor, lastTaken) => this.#saveFloor(machine.files, floor, lastTaken),
          onFailed,
          quarantine: {
            stream: quarantineStream,
            fromMessage: (quarantined?.message ?? 0) + 1,
            lastTaken: quarantined?.lastTaken ?? null,
            idPrefix,
            timers: time,
            onPosition: () => undefined,
            onFailed,
          },
        },
      });
      this.#process = { stream, quarantineStream, service };
    } catch (error) {
      await closeAll({ stream, quarantineStream });
      throw error;
    }
  }

  /** As a node reads and writes it at its start. */
  async #readFile(files: Files, stream: SimulatedStream): Promise<ClusterFile> {
    await files.makeDirectory(SIMULATED_DATA_DIR);
    const address = { servers: ["127.0.0.1:4222"], isSecure: false, stream: stream.name };
    const file = (await readClusterFile(files, SIMULATED_DATA_DIR)) ?? createClusterFile(address);
    const current = { ...file, created: stream.created };
    await writeClusterFile(files, SIMULATED_DATA_DIR, current);
    return current;
  }

  async #saveFloor(files: Files, floor: number, lastTaken: TakenMessage | null): Promise<void> {
    assert(this.#file !== null, "the node was started");
    const file = { ...this.#file, floor: Math.max(floor, this.#file.floor), lastTaken };
    await writeClusterFile(files, SIMULATED_DATA_DIR, file);
    this.#file = file;
    this.toldFloor = file.floor;
  }

  /** Its process ends in some way; what it has sent may still come. */
  async end(how: "close" | "kill" | "power"): Promise<void> {
    const { time, draws } = this.#world;
    const { service, ...streams } = this.#running;
    if (how !== "close" && !this.disk.isDead) this.disk.die(how, draws.chance(0.7) ? draws.next : undefined);
    if (this.disk.isDead) {
      this.#process = null;
      await closeAll(streams);
    }
    await time.until(closeService(service));
    this.#process = null;
    await closeAll(streams);
  }

  /** Fills in the answer, where it is that the reports were taken. */
  async post(post: SentPost): Promise<void> {
    const outcome = await this.service.directory.ingest(post.appId as AppId, batchOf(post.reports));
    if (outcome.ok) post.answer = outcome.value;
  }

  async catchUp(): Promise<void> {
    const { servers, time } = this.#world;
    const { lastMessage } = servers.state();
    while (this.log.lastMessage < lastMessage) await time.wait(5);
  }
}

async function closeAll({ stream, quarantineStream }: Omit<MemberProcess, "service">): Promise<void> {
  await stream.close();
  await quarantineStream.close();
}
