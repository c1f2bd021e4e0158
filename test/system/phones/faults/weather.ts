import { pause } from "../../support/pause.ts";
import type { Picker } from "../../support/random.ts";
import type { MortalServer } from "./mortal-server.ts";
import { type Network, NO_TROUBLE, type Trouble } from "./network.ts";

/** What befalls a server while phones report to it, one thing after the other; when it ends, all is well again. */
export interface Weather {
  readonly server: MortalServer;
  readonly network: Network;
  readonly pick: Picker;
  /** Whether a disk can be filled. */
  readonly hasDisk: boolean;
}

/** How often each befell it. */
export type FaultCounts = ReadonlyMap<FaultName, number>;

const STORM: Trouble = { cutRequest: 0.02, cutAnswer: 0.05, halfAnswer: 0.02, lateAnswer: 0.02 };
const CALM_MS_MAX = 1500;

const FAULTS = {
  async killed({ server, pick }) {
    await server.kill();
    await pause(pick.integer(0, 800));
    await server.start(false);
  },
  async "killed while it starts"({ server, pick }) {
    await server.kill();
    await server.start(false);
    await pause(pick.integer(0, 60));
    await server.kill();
    await server.start(false);
  },
  async "stopped and started"({ server, pick }) {
    await server.stop();
    await pause(pick.integer(0, 300));
    await server.start(false);
  },
  async frozen({ server, pick }) {
    server.freeze();
    await pause(pick.integer(500, 3500));
    server.thaw();
  },
  async "disk full"({ server, pick }) {
    server.fillDisk();
    await pause(pick.integer(500, 3000));
    server.freeDisk();
  },
  async "disk full and killed"({ server, pick }) {
    server.fillDisk();
    await pause(pick.integer(200, 1500));
    await server.kill();
    await server.start(false);
    await pause(pick.integer(200, 1500));
    server.freeDisk();
  },
} satisfies Record<string, (weather: Weather) => Promise<void>>;

export type FaultName = keyof typeof FAULTS;

const NAMES = Object.keys(FAULTS) as FaultName[];

/** Until this moment of the run, each fault about as often as any other, and all once before one comes twice. */
export async function makeWeather(weather: Weather, isOver: () => boolean): Promise<FaultCounts> {
  const { network, pick, hasDisk } = weather;
  const counts = new Map<FaultName, number>();
  const possible = NAMES.filter((name) => hasDisk || !name.startsWith("disk"));
  let left: FaultName[] = [];
  network.trouble = STORM;
  while (!isOver()) {
    if (left.length === 0) left = [...possible];
    const [name] = left.splice(pick.integer(0, left.length - 1), 1);
    await FAULTS[name!](weather);
    counts.set(name!, (counts.get(name!) ?? 0) + 1);
    await pause(pick.integer(200, CALM_MS_MAX));
  }
  network.trouble = NO_TROUBLE;
  return counts;
}
