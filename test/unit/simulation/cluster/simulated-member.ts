import type { StreamLog } from "../../../../src/cluster/log/stream-log.ts";
import { assert } from "../../../../src/lib/assert.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import { parseNewCorrection } from "../../../../src/service/corrections/new-correction.ts";
import { batchOf } from "../../../support/reports/batches.ts";
import { seededSalts } from "../../../support/seeded-random.ts";
import { NodeFile } from "../../../support/stream/node-file.ts";
import { SimulatedStream } from "../../../support/stream/simulated-stream.ts";
import type { SentPost } from "../../../support/stream/stream-model.ts";
import { createRunDisk, type RunDisk } from "../disk/disk.ts";
import type { SimulationEngine } from "../run/engine.ts";
import { closeService, openService, type RunService } from "../run/service.ts";
import type { ClusterWorld } from "./cluster-world.ts";

/** A node between a start and its end. */
interface MemberProcess {
  readonly stream: SimulatedStream;
  readonly service: RunService;
}

/** A client's request for a correction, and later perhaps for its undoing. */
export interface SentCorrection {
  readonly appId: string;
  readonly wanted: Readonly<Record<string, unknown>>;
  /** Null if no node acknowledged it. */
  made: { readonly id: string; readonly records: number } | null;
  /** Whether its undoing was sent, and whether that was acknowledged. */
  isUndoing: boolean;
  isUndone: boolean;
}

/** One node with a disk of its own, through all its crashes and restarts. */
export class SimulatedMember {
  readonly name: string;
  readonly disk: RunDisk;
  readonly failures: unknown[] = [];
  readonly #world: ClusterWorld;
  #process: MemberProcess | null = null;
  readonly #file = new NodeFile();
  #starts = 0;
  /** Aborted when the process ends: its requests end with it. */
  #requests = new AbortController();

  constructor(name: string, world: ClusterWorld, engine: SimulationEngine) {
    this.name = name;
    this.#world = world;
    this.disk = createRunDisk(engine);
  }

  /** What the others know to be needed by it. */
  get toldFloor(): number {
    return this.#file.toldFloor;
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

  get #caller() {
    return { signal: this.#requests.signal };
  }

  get #running(): MemberProcess {
    assert(this.#process !== null, "the node is up");
    return this.#process;
  }

  /** Rejects where its disk dies on the way. */
  async start(): Promise<void> {
    const { servers, time, draws, clock, retention, weather } = this.#world;
    const machine = this.disk.boot();
    const stream = new SimulatedStream({ servers, time, random: draws.next, weather });
    try {
      const { floor, lastTaken } = await this.#file.read(machine.files, stream);
      const own = () => this.#process?.stream === stream;
      const idPrefix = `${this.name}${this.#starts++}`;
      const onFailed = (error: unknown) => {
        if (own() && !this.disk.isDead) this.failures.push(error);
      };
      const service = await openService({
        machine,
        clock,
        retention,
        segmentBytesMax: 1024 * 1024,
        createSalt: seededSalts(this.#starts),
        planted: this.#world.planted,
        stream: {
          stream,
          fromMessage: floor,
          lastTaken,
          idPrefix,
          timers: time,
          onFloor: (message, taken) => this.#file.saveFloor(machine.files, message, taken),
          onFailed,
          purgedByMs: (archivedMs) => archivedMs,
          nodeId: this.name,
        },
      });
      this.#process = { stream, service };
    } catch (error) {
      await stream.close();
      throw error;
    }
  }

  /** Its process ends in some way; what it has sent may still come. */
  async end(how: "close" | "kill" | "power"): Promise<void> {
    const { time, draws } = this.#world;
    const { service, stream } = this.#running;
    if (how !== "close" && !this.disk.isDead) this.disk.die(how, draws.chance(0.7) ? draws.next : undefined);
    this.#requests.abort();
    this.#requests = new AbortController();
    if (this.disk.isDead) {
      this.#process = null;
      await stream.close();
    }
    await time.until(closeService(service));
    this.#process = null;
    await stream.close();
  }

  /** Fills in the answer, where it is that the reports were taken. */
  async post(post: SentPost): Promise<void> {
    const outcome = await this.service.directory.ingest(post.appId as AppId, batchOf(post.reports));
    if (outcome.ok) post.answer = outcome.value;
  }

  /** Fills in the id and the count of records, if the correction is made. */
  async correct(sent: SentCorrection): Promise<void> {
    const wanted = parseNewCorrection(sent.wanted);
    assert(wanted.ok, "a run asks for what may be asked for");
    const { clock } = this.#world;
    const request = { keyId: "key", nowMs: clock.nowMs(), repetition: null };
    const made = await this.service.directory.correct.create(
      sent.appId as AppId,
      wanted.value,
      request,
      this.#caller,
    );
    if (made.ok) sent.made = made.value.item.correction;
  }

  /** Notes that the correction is undone, if it is. */
  async undo(sent: SentCorrection): Promise<void> {
    assert(sent.made !== null, "a correction that was made is undone");
    const { id } = sent.made;
    const undone = await this.service.directory.correct.undo(sent.appId as AppId, id, "key", this.#caller);
    if (undone.ok) sent.isUndone = true;
  }

  async catchUp(): Promise<void> {
    const { servers, time } = this.#world;
    const { lastMessage } = servers.state();
    while (this.log.lastMessage < lastMessage) await time.wait(5);
  }
}
