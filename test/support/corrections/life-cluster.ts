import type { DirectoryStream } from "../../../src/app/directory.ts";
import { createCopies } from "../../../src/cluster/join/copies.ts";
import { join } from "../../../src/cluster/join/join.ts";
import type { Peer } from "../../../src/cluster/join/peer.ts";
import type { StreamLog } from "../../../src/cluster/log/stream-log.ts";
import { ok } from "../../../src/lib/result.ts";
import type { Files } from "../../../src/runtime/files.ts";
import { createRunDisk, type RunDisk } from "../../unit/simulation/disk/disk.ts";
import type { Draws } from "../../unit/simulation/run/draws.ts";
import type { SimulationEngine } from "../../unit/simulation/run/engine.ts";
import type { ArchiveApp } from "../archive-app.ts";
import { copyNoSqlite, openMemorySqlite } from "../disk/memory-sqlite.ts";
import { SIMULATED_DATA_DIR } from "../disk/mirrored-disk.ts";
import { NodeFile } from "../stream/node-file.ts";
import { SimulatedServers } from "../stream/simulated-servers.ts";
import { CALM, SimulatedStream } from "../stream/simulated-stream.ts";
import { VirtualTime } from "../stream/virtual-time.ts";

/** DuckDB takes real time for its statements. */
const STATEMENT_MS_MAX = 20_000;
const JOINED = "/joined";

/** The stream that the services of a life share. */
export class LifeCluster {
  readonly time = new VirtualTime(STATEMENT_MS_MAX);
  readonly servers = new SimulatedServers("wherehouse", () => this.time.nowMs());
  readonly #draws: Draws;
  readonly #nodes: LifeNode[] = [];

  constructor(draws: Draws) {
    this.#draws = draws;
  }

  createNode(): LifeNode {
    const node = new LifeNode(`node${this.#nodes.length + 1}`, this, this.#draws);
    this.#nodes.push(node);
    return node;
  }

  /** As nodes do it: what none of them needs any more goes. */
  purge(): void {
    this.servers.purgeBefore(Math.min(...this.#nodes.map(({ file }) => file.toldFloor)));
  }
}

/** What a service has that is a node. */
export class LifeNode {
  readonly #name: string;
  readonly #cluster: LifeCluster;
  readonly #draws: Draws;
  #starts = 0;
  #stream: SimulatedStream | null = null;
  #failure: unknown = null;
  file = new NodeFile();

  constructor(name: string, cluster: LifeCluster, draws: Draws) {
    this.#name = name;
    this.#cluster = cluster;
    this.#draws = draws;
  }

  /** The connection of a process that starts. */
  async connect(files: Files): Promise<DirectoryStream> {
    const { servers, time } = this.#cluster;
    const stream = new SimulatedStream({ servers, time, random: this.#draws.next, weather: CALM });
    this.#stream = stream;
    this.#failure = null;
    const { file } = this;
    const { floor, lastTaken } = await file.read(files, stream);
    return {
      ...{ stream, fromMessage: floor, lastTaken, timers: time, nodeId: this.#name },
      idPrefix: `${this.#name}${this.#starts++}`,
      onFloor: (message, taken) => file.saveFloor(files, message, taken),
      purgedByMs: (archivedMs) => archivedMs,
      onFailed: (error) => {
        if (this.#stream === stream) this.#failure = error;
      },
    };
  }

  async disconnect(): Promise<void> {
    const stream = this.#stream;
    this.#stream = null;
    await stream?.close();
  }

  /** Lets the time of the stream pass until the work is done. */
  async until<Value>(work: Promise<Value>): Promise<Value> {
    const value = await this.#cluster.time.until(work);
    if (this.#failure !== null) throw new Error(`${this.#name} can't follow`, { cause: this.#failure });
    return value;
  }

  /** The service, as clients use it while the time of the stream passes. */
  timed(app: ArchiveApp): ArchiveApp {
    return {
      ...app,
      fetch: (path, init) => this.until(app.fetch(path, init)),
      get: (path, key) => this.until(app.get(path, key)),
      post: (reports, key) => this.until(app.post(reports, key)),
    };
  }

  /** Resolves once it has applied all that the stream has. */
  async catchUp({ directory }: ArchiveApp): Promise<void> {
    const { servers, time } = this.#cluster;
    const log = directory.log as StreamLog;
    const { lastMessage } = servers.state();
    const caughtUp = async () => {
      while (log.lastMessage < lastMessage) await time.wait(5);
    };
    await this.until(caughtUp());
  }

  /** The disk of a new node in this one's place, with what `peer` has on its disk. */
  async joinedDisk(peer: LifeNode, files: Files, disk: RunDisk, engine: SimulationEngine): Promise<RunDisk> {
    const status = () => {
      const { address, nodeId, created, floor, lastTaken } = peer.file.content;
      return { ...address, nodeId, created: created!, floor, lastTaken };
    };
    const { signal } = new AbortController();
    await files.removeAll(JOINED);
    const joined = await join({
      ...{ files, openSqlite: openMemorySqlite, dataDir: JOINED, again: false, signal, onProgress: () => {} },
      peer: createPeer(files, status, signal),
      wait: async () => {},
      async take(directory) {
        await files.makeDirectory(directory);
        return () => {};
      },
    });
    if (!joined.ok) throw new Error(`a node can't join: ${joined.error}`);
    const copy = createRunDisk(engine);
    for (const [path, bytes] of disk.contents())
      if (path.startsWith(`${JOINED}/`)) copy.damage(path.replace(JOINED, SIMULATED_DATA_DIR), bytes);
    this.file = new NodeFile();
    this.file.toldFloor = status().floor;
    return copy;
  }
}

/** What a node's files are to one that joins. */
function createPeer(
  files: Files,
  cluster: Parameters<typeof createCopies>[0]["cluster"],
  signal: AbortSignal,
): Peer {
  const copies = createCopies({
    files,
    dataDir: SIMULATED_DATA_DIR,
    copySqlite: copyNoSqlite,
    cluster,
    stallMs: 60_000,
  });
  return {
    async plan() {
      const plan = await copies.plan();
      if (!plan.ok) throw new Error(`nothing can be copied: ${plan.error.kind}`);
      return plan;
    },
    async take(nodeId, path) {
      const opened = await copies.open(nodeId, path, signal);
      if (!opened.ok) throw new Error(`${path} can't be copied: ${opened.error.kind}`);
      return ok(opened.value);
    },
  };
}
