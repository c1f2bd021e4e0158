import {
  type ClusterFile,
  createClusterFile,
  readClusterFile,
  writeClusterFile,
} from "../../../src/cluster/cluster-file.ts";
import type { Stream, TakenMessage } from "../../../src/cluster/stream/stream.ts";
import { assert } from "../../../src/lib/assert.ts";
import type { Files } from "../../../src/runtime/files.ts";
import { SIMULATED_DATA_DIR } from "../disk/mirrored-disk.ts";

/** The file `cluster.json` of a simulated node, through all its starts, as a node reads and writes it. */
export class NodeFile {
  /** What the others know to be needed by the node: durable here before anybody is told. */
  toldFloor = 1;
  #content: ClusterFile | null = null;

  get content(): ClusterFile {
    assert(this.#content !== null, "the node was started");
    return this.#content;
  }

  /** At a start. */
  async read(files: Files, { name, created }: Pick<Stream, "name" | "created">): Promise<ClusterFile> {
    await files.makeDirectory(SIMULATED_DATA_DIR);
    const address = { servers: ["127.0.0.1:4222"], isSecure: false, stream: name };
    const file = (await readClusterFile(files, SIMULATED_DATA_DIR)) ?? createClusterFile(address);
    const current = { ...file, created };
    await writeClusterFile(files, SIMULATED_DATA_DIR, current);
    assert(current.floor >= this.toldFloor, "a floor that others were told of is durable");
    this.#content = current;
    return current;
  }

  async saveFloor(files: Files, floor: number, lastTaken: TakenMessage | null): Promise<void> {
    const file = { ...this.content, floor: Math.max(floor, this.content.floor), lastTaken };
    await writeClusterFile(files, SIMULATED_DATA_DIR, file);
    this.#content = file;
    this.toldFloor = file.floor;
  }
}
