import { randomBytes } from "node:crypto";
import { messageOf } from "../lib/message-of.ts";
import { atMost, systemTimers, type Timers } from "../lib/schedule/timers.ts";
import type { Clock } from "../model/time/clock.ts";
import type { Files } from "../runtime/files.ts";
import { type ClusterFile, writeClusterFile } from "./cluster-file.ts";
import { LagMeter, type NodeStatus } from "./node-status.ts";
import { Nodes, Purging } from "./nodes.ts";
import { patiently, Repeated } from "./repeat.ts";
import {
  type AskedStream,
  type Bucket,
  type Stream,
  StreamError,
  type TakenMessage,
} from "./stream/stream.ts";

/** What a node is made of. */
export interface ClusterNodeParts {
  readonly dataDir: string;
  readonly files: Pick<Files, "replace">;
  readonly file: ClusterFile;
  readonly stream: Stream;
  /** What can't be used goes through it, to all nodes. */
  readonly quarantineStream: Stream;
  /** The first message of that which a start of this node needs. */
  readonly quarantineFloor: number;
  /** The last one of that which this node is known to have taken. */
  readonly quarantineLastTaken: TakenMessage | null;
  /** Of nodes, where each tells of itself. */
  readonly nodes: Bucket;
  /** What all nodes share: keys, settings, secrets. */
  readonly shared: Bucket;
  /** Which links have signed somebody in. */
  readonly codes: Bucket;
  readonly clock: Clock;
  readonly nodeTimeoutMs: number;
  readonly program: string;
  /** Left out, time passes by itself. */
  readonly timers?: Timers;
  onNote(note: string): void;
}

/** How far a node has applied the stream, asked often. */
export interface AppliedLog {
  readonly lastMessage: number;
  readonly lastSequence: number;
}

const TELL_MS = 5000;
const ASK_MS = 2000;

/** Servers that don't answer are not told that a node stops: they will see. */
const LEAVE_MS = 1000;

/** What is short is left there: a node that begins with nothing, in a cluster as young, takes all of it from there. */
const QUARANTINE_LEFT_BYTES = 64 * 1024 * 1024;

/**
 * This process as one node of a cluster: it tells the others how far it is, knows how far they are, how many share the
 * work and how far it lags behind, and purges from the stream what nobody needs any more.
 */
export class ClusterNode {
  readonly stream: Stream;
  readonly shared: Bucket;
  readonly codes: Bucket;
  /** Where nodes tell of themselves. */
  readonly nodesBucket: Bucket;
  /** Begins the ids of this process's messages. */
  readonly idPrefix: string;
  readonly #process: string;
  readonly #parts: ClusterNodeParts;
  readonly #nodes: Nodes;
  readonly #timers: Timers;
  #lag: LagMeter;
  #telling: Repeated | null = null;
  #asking: Repeated | null = null;
  readonly #failed = Promise.withResolvers<never>();
  #file: ClusterFile;
  #address = "";
  #onWaiting: (error: unknown) => void = () => undefined;
  #log: AppliedLog | null = null;
  #quarantineFloor: number;
  readonly #purging: Purging;
  readonly #quarantinePurging: Purging;
  readonly #starting = new AbortController();
  #isStopped = false;

  constructor(parts: ClusterNodeParts) {
    this.#parts = parts;
    this.#timers = parts.timers ?? systemTimers;
    this.#lag = new LagMeter(this.#timers.nowMs());
    this.#file = parts.file;
    this.#quarantineFloor = parts.quarantineFloor;
    this.#purging = new Purging(parts.stream, 0);
    this.#quarantinePurging = new Purging(parts.quarantineStream, QUARANTINE_LEFT_BYTES);
    this.stream = parts.stream;
    this.shared = parts.shared;
    this.codes = parts.codes;
    this.nodesBucket = parts.nodes;
    this.#process = randomBytes(6).toString("hex");
    this.idPrefix = `${parts.file.nodeId}.${this.#process}`;
    this.#failed.promise.catch(() => undefined); // Who serves hears of it, where anybody does.
    this.#nodes = new Nodes(parts.nodes, parts.file.nodeId, () => this.#timers.nowMs());
  }

  /** Rejects when the stream can't be followed any further. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  /** What the directory's log is, and where its quarantine comes from. */
  get directoryStream() {
    const { idPrefix } = this;
    const onFailed = (error: unknown) => this.#failed.reject(error);
    return {
      stream: this.stream,
      fromMessage: this.#file.floor,
      lastTaken: this.#file.lastTaken,
      signal: this.#starting.signal,
      idPrefix,
      asked: this.#asPatient(this.stream),
      onFloor: (message: number, lastTaken: TakenMessage | null) => this.#saveFloor(message, lastTaken),
      onFailed,
      quarantine: {
        stream: this.#parts.quarantineStream,
        fromMessage: this.#quarantineFloor,
        lastTaken: this.#parts.quarantineLastTaken,
        idPrefix,
        asked: this.#asPatient(this.#parts.quarantineStream),
        onPosition: (message: number) => {
          this.#quarantineFloor = message + 1;
        },
        onFailed,
      },
    };
  }

  /** For a start, which goes on where the servers are away for a while. */
  #asPatient(stream: Stream): AskedStream {
    const ask = <Answer>(question: () => Promise<Answer>) =>
      patiently(question, this.#onWaiting, this.#starting.signal, this.#timers);
    return {
      name: stream.name,
      state: () => ask(() => stream.state()),
      messageId: (number) => ask(() => stream.messageId(number)),
    };
  }

  /** What one more node has to know of the cluster, and how far this one's archive is. */
  get status() {
    const { address, nodeId, floor, lastTaken } = this.#file;
    return { ...address, nodeId, created: this.stream.created, floor, lastTaken };
  }

  get nodeId(): string {
    return this.#file.nodeId;
  }

  get liveCount(): number {
    return this.#nodes.liveCount;
  }

  /** Null before the start is over. */
  get lagMs(): number | null {
    if (this.#log === null) return null;
    return Math.round(this.#lag.lagMs(this.#timers.nowMs(), this.#log.lastMessage, 2 * ASK_MS));
  }

  /**
   * Tells the others of this node, before its start reads the stream: they keep what it needs from then on. Rejects
   * with a `StreamError`.
   */
  async announce(address: string, onWaiting: (error: unknown) => void): Promise<void> {
    this.#address = address;
    this.#onWaiting = onWaiting;
    await patiently(() => this.#nodes.read(), onWaiting);
    await patiently(() => this.#tell(), onWaiting);
    await patiently(() => this.#nodes.read(), onWaiting);
    this.#telling = new Repeated(() => this.#orNote(() => this.#readAndTell()), TELL_MS, this.#timers);
  }

  /** The start is over: from here on the lag is known. */
  begin(log: AppliedLog): void {
    this.#log = log;
    this.#lag = new LagMeter(this.#timers.nowMs()); // A start may take long, which is no lag.
    this.#asking = new Repeated(() => this.#orNote(() => this.#ask()), ASK_MS, this.#timers);
  }

  /** The archive has all that is before the floor: durable when it resolves. */
  async #saveFloor(floor: number, lastTaken: TakenMessage | null): Promise<void> {
    const { floor: formerFloor, lastTaken: formerTaken } = this.#file;
    if (floor <= formerFloor && lastTaken?.id === formerTaken?.id) return;
    const file = { ...this.#file, floor: Math.max(floor, formerFloor), lastTaken };
    await writeClusterFile(this.#parts.files, this.#parts.dataDir, file);
    this.#file = file;
    this.#telling?.now();
  }

  /** Who stops doesn't wait for servers that may never answer. */
  breakOffStart(): void {
    this.#starting.abort();
  }

  /** Where the stream lacks what the start needs, nothing must be kept for it: it can't go on from where it is. */
  async noteFailedStart(error: unknown): Promise<void> {
    if (!(error instanceof StreamError && error.kind === "gone")) return;
    await this.#stop();
    await this.#orNote(() => this.#parts.nodes.delete(this.#file.nodeId));
  }

  /** Says that this node is away for a while, and lets the servers go. */
  async close(): Promise<void> {
    const wasUp = !this.#isStopped && !this.#nodes.isOlderSeen; // Its name is the other's.
    const leaving = this.#stop().then(async () => {
      if (wasUp) await this.#orNote(() => this.#tell());
    });
    await atMost(this.#timers, LEAVE_MS, leaving);
    await Promise.all([this.stream.close(), this.#parts.quarantineStream.close()]);
    await leaving; // What it still asked for nobody answers now.
  }

  async #stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([this.#telling?.stop(), this.#asking?.stop()]);
  }

  async #readAndTell(): Promise<void> {
    const wasOlderSeen = this.#nodes.isOlderSeen;
    await this.#nodes.read();
    const { impostor } = this.#nodes; // Seen now, before this one's word is the last again.
    if (impostor !== null) {
      this.#isStopped = true; // It says nothing more under the name of both.
      return this.#failed.reject(this.#isTwo(impostor));
    }
    if (this.#nodes.isOlderSeen && !wasOlderSeen) return; // Whether it lives the next look shows.
    await this.#tell();
    const { clock, nodeTimeoutMs, onNote } = this.#parts;
    for (const id of await this.#nodes.forgetAway(clock.nowMs(), nodeTimeoutMs))
      onNote(`Node ${id} is away for longer than --node-timeout: the log is not kept for it any more.`);
    await this.#purge();
  }

  /** Each would say of the other's archive what is in its own, and what the other needs would be purged. */
  #isTwo({ address }: NodeStatus): StreamError {
    const { nodeId } = this.#file;
    return new StreamError(
      "refused",
      `Another process runs as node ${nodeId}, at ${address}: one of the two has a copy of the other's directory. ` +
        "This one stops. To make a node more: join URL, with an empty directory.",
    );
  }

  async #tell(): Promise<void> {
    await this.#nodes.tell({
      address: this.#address,
      process: this.#process,
      program: this.#parts.program,
      floor: this.#file.floor,
      quarantineFloor: this.#quarantineFloor,
      appliedSequence: this.#log?.lastSequence ?? 0,
      lagMs: this.lagMs ?? 0,
      atMs: Math.max(0, Math.floor(this.#parts.clock.nowMs())),
      isUp: !this.#isStopped,
    });
  }

  async #purge(): Promise<void> {
    await this.#purging.purge(this.#nodes.floor("floor", this.#file.floor));
    await this.#quarantinePurging.purge(this.#nodes.floor("quarantineFloor", this.#quarantineFloor));
  }

  async #ask(): Promise<void> {
    const atMs = this.#timers.nowMs(); // What comes to the stream while it is asked is not missing yet.
    const { lastMessage } = await this.stream.state();
    this.#lag.note({ atMs, lastMessage });
  }

  /** Servers that can't be asked are told of by the lag. */
  async #orNote(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (!(error instanceof StreamError)) throw error;
      if (error.kind !== "unreachable") this.#parts.onNote(messageOf(error));
    }
  }
}
