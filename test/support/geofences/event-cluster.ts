import { decideEvents } from "../../../src/geofences/decision.ts";
import type { WatchEvent } from "../../../src/geofences/watch.ts";
import type { AppId, DeviceId } from "../../../src/model/ids.ts";
import type { ManualClock } from "../../../src/model/time/clock.ts";
import { createNodeFiles } from "../../../src/runtime/node-files.ts";
import { openNodeSqlite } from "../../../src/runtime/node-sqlite.ts";
import { DecidedEvents } from "../../../src/service/watching/decided-events.ts";
import type { StoredEvent } from "../../../src/service/watching/stored-event.ts";
import { PreparedWatches } from "../../../src/service/watching/watches-of-app.ts";
import type { WebhookParts } from "../../../src/service/webhooks/open-webhooks.ts";
import { type ArchiveApp, createArchiveApp, temporaryDataDir } from "../archive-app.ts";
import { SimulatedServers } from "../stream/simulated-servers.ts";
import { SimulatedStream, type StreamWeather } from "../stream/simulated-stream.ts";
import { VirtualTime } from "../stream/virtual-time.ts";
import { APP_ID } from "../test-app.ts";
import { until } from "../until.ts";
import { readerOf } from "./watching.ts";

/* Nodes with real databases over a simulated stream, of which one publishes events at a time. */

const APP = APP_ID as AppId;
const STILL_MS_MAX = 20_000;

export interface EventClusterOptions {
  readonly clock: ManualClock;
  readonly random: () => number;
  readonly weather: StreamWeather;
  /** What all nodes send webhooks with; by default each has its own. */
  readonly webhooks?: WebhookParts;
}

/** The stream, its nodes, and which of them leads. */
export class EventCluster {
  readonly time = new VirtualTime(STILL_MS_MAX);
  readonly nodes: EventNode[] = [];
  readonly options: EventClusterOptions;
  readonly servers = new SimulatedServers("wherehouse", () => this.time.nowMs());
  readonly #untold = new Set<EventNode>();
  #leader: EventNode | null = null;
  #term = 0;

  constructor(options: EventClusterOptions) {
    this.options = options;
  }

  async addNode(dataDir = temporaryDataDir()): Promise<EventNode> {
    const node = new EventNode(this, `node${this.nodes.length + 1}`, dataDir);
    await node.start();
    this.nodes.push(node);
    return node;
  }

  get leader(): EventNode | null {
    return this.#leader;
  }

  /** Has another node lead. The former one may do nothing more from here on, and is told so now or later. */
  lead(node: EventNode, isFormerTold = true): void {
    const former = this.#leader;
    if (former === node) return;
    this.#leader = node;
    if (former !== null) this.#untold.add(former);
    if (isFormerTold) for (const each of this.#untold) void each.app.directory.lead!.end();
    if (isFormerTold) this.#untold.clear();
    if (this.#untold.delete(node)) void node.app.directory.lead!.end();
    node.app.directory.lead!.begin(++this.#term, () => this.#leader === node);
  }

  until<Value>(work: Promise<Value>): Promise<Value> {
    return this.time.until(work);
  }

  /** Resolves once all nodes know and have decided everything, and all of that is published. */
  async settle(): Promise<void> {
    const isSettled = () => {
      const { lastMessage } = this.servers.state();
      return this.nodes.every((node) => node.isSettled(lastMessage, this.#leader === node));
    };
    await this.until(until(isSettled));
  }

  async close(): Promise<void> {
    for (const node of this.nodes) await node.close();
  }
}

export class EventNode {
  app!: ArchiveApp;
  /** The first message that the next start needs. */
  floor = 1;
  readonly dataDir: string;
  readonly #cluster: EventCluster;
  readonly #name: string;
  #stream!: SimulatedStream;
  #starts = 0;

  constructor(cluster: EventCluster, name: string, dataDir: string) {
    this.#cluster = cluster;
    this.#name = name;
    this.dataDir = dataDir;
  }

  async start(): Promise<void> {
    const { servers, time, options } = this.#cluster;
    const { random, weather, clock, webhooks } = options;
    const stream = new SimulatedStream({ servers, time, random, weather });
    this.#stream = stream;
    const opening = createArchiveApp({
      ...{ clock, dataDir: this.dataDir },
      ...(webhooks === undefined ? {} : { webhooks }),
      disk: {
        files: createNodeFiles(),
        openSqlite: openNodeSqlite,
        stream: {
          ...{ stream, fromMessage: this.floor, lastTaken: null, timers: time, nodeId: this.#name },
          idPrefix: `${this.#name}.${this.#starts++}`,
          onFloor: async (message) => {
            this.floor = message;
          },
          onFailed: () => undefined,
          purgedByMs: () => null,
        },
      },
    });
    this.app = await this.#cluster.until(opening);
    this.app.directory.watcher.start();
  }

  async close(): Promise<void> {
    await this.#cluster.until(this.app.directory.close());
    await this.#stream.close();
  }

  /** Ends the process without its last words: they don't reach the stream. */
  async kill(): Promise<void> {
    this.#stream.setCut(true);
    await this.close();
  }

  async ask(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const headers = { authorization: `Bearer ${this.app.keys.full}`, "content-type": "application/json" };
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await this.#cluster.until(
      this.app.fetch(`/api/v1/${path}`, { method, headers, ...init }),
    );
    if (response.status >= 300) throw new Error(`${method} ${path}: ${await response.text()}`);
    return response.status === 204 ? {} : ((await response.json()) as Record<string, unknown>);
  }

  report(reports: readonly object[]): Promise<unknown> {
    return this.#cluster.until(this.app.post(reports as never));
  }

  isSettled(lastMessage: number, leads: boolean): boolean {
    const { log, watcher, eventStore } = this.app.directory;
    const { lastMessage: applied } = log as unknown as { readonly lastMessage: number };
    if (applied < lastMessage || !watcher.isIdle) return false;
    return !leads || new DecidedEvents(eventStore, true).unpublished(0, 1).length === 0;
  }

  /** All that is published, as it is stored. */
  stored(): StoredEvent[] {
    return this.app.directory.eventStore.after(APP, 0, 100_000);
  }

  /** The events that its records make. */
  async expected(
    devices: readonly string[],
    range: { startMs: number; endMs: number },
  ): Promise<WatchEvent[]> {
    const { hot } = this.app.directory;
    const watches = hot.watches.find(APP);
    const prepared = new PreparedWatches().of(watches);
    const events: WatchEvent[] = [];
    for (const device of devices) {
      const { signal } = new AbortController();
      const read = await readerOf(this.app).read(APP, device as DeviceId, range, signal);
      if (!read.ok) throw new Error("records can't be read");
      for (const id of watches?.byId.keys() ?? [])
        events.push(
          ...decideEvents(prepared.find(id)!, device as DeviceId, read.value.value, hot.watches.clockMs),
        );
    }
    return events;
  }
}
