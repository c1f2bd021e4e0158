import {
  type Place,
  type Runtime,
  type ServerProcess,
  startServing,
} from "../../../support/server-process.ts";
import type { ScarceDisk } from "../../support/scarce-disk.ts";
import type { Network } from "./network.ts";

/** The server of a run: one data directory, and one process after the other that serves it. */
export interface MortalServer {
  /** Where it listens now. */
  readonly url: string;
  /** All that its processes have said. */
  readonly said: string;
  readonly starts: number;
  /** Starts a process and points the network at it; with `untilReady` once it has read its log. */
  start(untilReady: boolean): Promise<void>;
  /** Whether it takes a key now; before the first start it will, since it reads them then. */
  knows(key: string): Promise<boolean>;
  kill(): Promise<void>;
  /** Asks it to stop, and waits for that. */
  stop(): Promise<void>;
  freeze(): void;
  thaw(): void;
  fillDisk(): void;
  freeDisk(): void;
}

export interface MortalServerOptions {
  readonly runtime: Runtime;
  readonly place: Place;
  /** Null where this machine has none. */
  readonly disk: ScarceDisk | null;
  readonly network: Network;
  readonly flags: readonly string[];
}

const ASK_MS_MAX = 2000;

export function createMortalServer({
  runtime,
  place,
  disk,
  network,
  flags,
}: MortalServerOptions): MortalServer {
  let process: ServerProcess | null = null;
  let saidBefore = "";
  let starts = 0;

  function running(): ServerProcess {
    if (process === null) throw new Error("The server does not run.");
    return process;
  }

  /** Waits for its end, and keeps what it said; the code is null where a signal ended it. */
  async function ended(): Promise<number | null> {
    const { code, out, error } = await running().ended;
    process = null;
    saidBefore += out + error;
    return code;
  }

  return {
    get url() {
      return running().url;
    },
    get said() {
      return saidBefore + (process === null ? "" : process.out + process.error);
    },
    get starts() {
      return starts;
    },
    async start(untilReady) {
      process = await startServing(runtime, place, flags);
      starts++;
      network.aim(process.url);
      if (untilReady) await process.says(/Ready after/);
    },
    async knows(key) {
      if (starts === 0) return true;
      try {
        const headers = { authorization: `Bearer ${key}` };
        const signal = AbortSignal.timeout(ASK_MS_MAX);
        const { status } = await fetch(`${running().url}/api/v1/locations/current`, { headers, signal });
        return status === 200 || status === 403;
      } catch {
        return false; // It does not run just now.
      }
    },
    async kill() {
      running().kill("SIGKILL");
      const code = await ended();
      network.aim(null);
      if (code !== null) throw new Error(`The server had ended by itself: ${saidBefore.slice(-2000)}`);
    },
    async stop() {
      running().kill("SIGTERM");
      const code = await ended();
      network.aim(null);
      if (code !== 0) throw new Error(`SIGTERM ended with ${code}: ${saidBefore.slice(-2000)}`);
    },
    freeze: () => running().kill("SIGSTOP"),
    thaw: () => running().kill("SIGCONT"),
    fillDisk: () => disk?.fill(running().pid),
    freeDisk: () => disk?.free(running().pid),
  };
}
