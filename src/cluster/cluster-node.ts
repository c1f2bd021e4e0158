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
  type Bucket,
  type Stream,
  StreamError,
  type StreamProbe,
  type TakenMessage,
} from "./stream/stream.ts";

/** The stream, buckets and settings that a node works with. */
export interface ClusterNodeParts {
  readonly dataDir: string;
  readonly files: Pick<Files, "replace">;
  readonly file: ClusterFile;
  readonly stream: Stream;
  /** The status of each node. */
  readonly nodes: Bucket;
  /** Keys, settings and secrets. */
  readonly shared: Bucket;
  /** Used sign-in links. */
  readonly codes: Bucket;
  readonly clock: Clock;
  readonly nodeTimeoutMs: number;
  readonly program: string;
  /** Defaults to the system timers. */
  readonly timers?: Timers;
  onNote(note: string): void;
}

/** How far a node has applied the stream. Read often. */
export interface AppliedLog {
  readonly lastMessage: number;
  readonly lastSequence: number;
}

const PUBLISH_MS = 5000;
const POLL_MS = 2000;

/** How long to wait for servers when announcing a stop. They notice it anyway. */
const LEAVE_MS = 1000;

/** This process as a node: publishes its progress, measures its lag, and purges messages that no node needs. */
export class ClusterNode {
  readonly stream: Stream;
  readonly shared: Bucket;
  readonly codes: Bucket;
  readonly nodesBucket: Bucket;
  /** Prefix of the ids of this process's messages. */
  readonly idPrefix: string;
  readonly #process: string;
  readonly #parts: ClusterNodeParts;
  readonly #nodes: Nodes;
  readonly #timers: Timers;
  #lag: LagMeter;
  #publishing: Repeated | null = null;
  #polling: Repeated | null = null;
  readonly #failed = Promise.withResolvers<never>();
  #file: ClusterFile;
  #address = "";
  #onWaiting: (error: unknown) => void = () => undefined;
  #log: AppliedLog | null = null;
  readonly #purging: Purging;
  readonly #starting = new AbortController();
  #isStopped = false;

  constructor(parts: ClusterNodeParts) {
    this.#parts = parts;
    this.#timers = parts.timers ?? systemTimers;
    this.#lag = new LagMeter(this.#timers.nowMs());
    this.#file = parts.file;
    this.#purging = new Purging(parts.stream);
    this.stream = parts.stream;
    this.shared = parts.shared;
    this.codes = parts.codes;
    this.nodesBucket = parts.nodes;
    this.#process = randomBytes(6).toString("hex");
    this.idPrefix = `${parts.file.nodeId}.${this.#process}`;
    this.#failed.promise.catch(() => undefined); // Handled by the server, if one is running.
    this.#nodes = new Nodes(parts.nodes, parts.file.nodeId, () => this.#timers.nowMs());
  }

  /** Rejects when the stream can't be followed any more. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  /** Options for opening the log. */
  get directoryStream() {
    const { idPrefix, nodeId } = this;
    return {
      nodeId,
      stream: this.stream,
      fromMessage: this.#file.floor,
      lastTaken: this.#file.lastTaken,
      signal: this.#starting.signal,
      idPrefix,
      probe: this.#retryingProbe(this.stream),
      onFloor: (message: number, lastTaken: TakenMessage | null) => this.#saveFloor(message, lastTaken),
      onFailed: (error: unknown) => this.#failed.reject(error),
      purgedByMs: (archivedMs: number) => this.#nodes.purgedByMs(archivedMs, this.#parts.nodeTimeoutMs),
    };
  }

  /** For a start, which waits for servers that are away for a while. */
  #retryingProbe(stream: Stream): StreamProbe {
    const ask = <Answer>(question: () => Promise<Answer>) =>
      patiently(question, this.#onWaiting, this.#starting.signal, this.#timers);
    return {
      name: stream.name,
      state: () => ask(() => stream.state()),
      messageId: (number) => ask(() => stream.messageId(number)),
    };
  }

  /** What a new node must know about the cluster, and how far this node's archive is. */
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

  /** Null during the start. */
  get lagMs(): number | null {
    if (this.#log === null) return null;
    return Math.round(this.#lag.lagMs(this.#timers.nowMs(), this.#log.lastMessage, 2 * POLL_MS));
  }

  /** Publishes this node's status before it reads the stream, so that others retain what it needs. */
  async announce(address: string, onWaiting: (error: unknown) => void): Promise<void> {
    this.#address = address;
    this.#onWaiting = onWaiting;
    await patiently(() => this.#nodes.read(), onWaiting);
    await patiently(() => this.#publishStatus(), onWaiting);
    await patiently(() => this.#nodes.read(), onWaiting);
    this.#publishing = new Repeated(
      () => this.#orNote(() => this.#readAndPublish()),
      PUBLISH_MS,
      this.#timers,
    );
  }

  /** Called when the start is over; the lag is known from here on. */
  begin(log: AppliedLog): void {
    this.#log = log;
    this.#lag = new LagMeter(this.#timers.nowMs()); // The duration of the start is not lag.
    this.#polling = new Repeated(() => this.#orNote(() => this.#pollStream()), POLL_MS, this.#timers);
  }

  /** Records that the archive covers everything before `floor`. Durable when it resolves. */
  async #saveFloor(floor: number, lastTaken: TakenMessage | null): Promise<void> {
    const { floor: formerFloor, lastTaken: formerLastTaken } = this.#file;
    if (floor <= formerFloor && lastTaken?.id === formerLastTaken?.id) return;
    const file = { ...this.#file, floor: Math.max(floor, formerFloor), lastTaken };
    await writeClusterFile(this.#parts.files, this.#parts.dataDir, file);
    this.#file = file;
    this.#publishing?.now();
  }

  /** A stopping process does not wait for servers that may never answer. */
  breakOffStart(): void {
    this.#starting.abort();
  }

  /** If the stream lacks what the start needs, the cluster need not retain messages for this node any more. */
  async noteFailedStart(error: unknown): Promise<void> {
    if (!(error instanceof StreamError && error.kind === "gone")) return;
    await this.#stop();
    await this.#orNote(() => this.#parts.nodes.delete(this.#file.nodeId));
  }

  /** Publishes that this node is stopped, and closes the connections. */
  async close(): Promise<void> {
    const wasUp = !this.#isStopped && !this.#nodes.isOlderSeen; // Then the id belongs to the other process.
    const leaving = this.#stop().then(async () => {
      if (wasUp) await this.#orNote(() => this.#publishStatus());
    });
    await atMost(this.#timers, LEAVE_MS, leaving);
    await this.stream.close();
    await leaving; // Pending requests have failed by now.
  }

  async #stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([this.#publishing?.stop(), this.#polling?.stop()]);
  }

  async #readAndPublish(): Promise<void> {
    const wasOlderSeen = this.#nodes.isOlderSeen;
    await this.#nodes.read();
    const { impostor } = this.#nodes; // Read before this process overwrites the status.
    if (impostor !== null) {
      this.#isStopped = true; // Publishes nothing more under the shared id.
      return this.#failed.reject(this.#duplicateError(impostor));
    }
    if (this.#nodes.isOlderSeen && !wasOlderSeen) return; // The next read shows whether it is alive.
    await this.#publishStatus();
    const { clock, nodeTimeoutMs, onNote } = this.#parts;
    for (const id of await this.#nodes.forgetAway(clock.nowMs(), nodeTimeoutMs))
      onNote(
        `Node ${id} has been away for longer than --node-timeout: the log is no longer retained for it.`,
      );
    await this.#purge();
  }

  /** Each would report the floor of its own archive, and messages that the other needs would be purged. */
  #duplicateError({ address }: NodeStatus): StreamError {
    const { nodeId } = this.#file;
    return new StreamError(
      "refused",
      `Another process runs as node ${nodeId}, at ${address}: one of the two has a copy of the other's directory. ` +
        "This one stops. To add a node: join URL, with an empty directory.",
    );
  }

  async #publishStatus(): Promise<void> {
    await this.#nodes.publish({
      address: this.#address,
      process: this.#process,
      program: this.#parts.program,
      floor: this.#file.floor,
      appliedSequence: this.#log?.lastSequence ?? 0,
      lagMs: this.lagMs ?? 0,
      atMs: Math.max(0, Math.floor(this.#parts.clock.nowMs())),
      isUp: !this.#isStopped,
    });
  }

  async #purge(): Promise<void> {
    await this.#purging.purge(this.#nodes.floor(this.#file.floor));
  }

  async #pollStream(): Promise<void> {
    const atMs = this.#timers.nowMs(); // Messages that arrive during the request don't count as lag yet.
    const { lastMessage } = await this.stream.state();
    this.#lag.note({ atMs, lastMessage });
  }

  /** Unreachable servers show up as lag, so they need no note. */
  async #orNote(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (!(error instanceof StreamError)) throw error;
      if (error.kind !== "unreachable") this.#parts.onNote(messageOf(error));
    }
  }
}
