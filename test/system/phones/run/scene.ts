import { seededRandom } from "../../../support/seeded-random.ts";
import { closePlace, openPlace, type Place, type Runtime } from "../../../support/server-process.ts";
import { createPicker, type Picker } from "../../support/random.ts";
import { scarceDiskKinds } from "../../support/scarce-disk.ts";
import { type KeyPair, type KeyRing, openKeyRing } from "../faults/key-ring.ts";
import { createMortalServer, type MortalServer } from "../faults/mortal-server.ts";
import { type Network, openNetwork, type Tampering } from "../faults/network.ts";
import { createPace, type Pace } from "../phone/pace.ts";
import type { Phone } from "../phone/phone.ts";
import { createFleet, type PhonePlan } from "./fleet.ts";

/** All that a run has: its phones with their keys, the network, the server, which does not run yet, and its disk. */
export interface Scene {
  /** The runtime as the disk wants it started. */
  readonly runtime: Runtime;
  readonly place: Place;
  /** Whether the disk can be filled. */
  readonly hasDisk: boolean;
  readonly pick: Picker;
  readonly pace: Pace;
  readonly network: Network;
  readonly server: MortalServer;
  readonly phones: readonly Phone[];
  readonly keys: KeyRing;
  /** Of an app that phones have too. */
  readonly vandalsKey: KeyPair;
  /** Leaves nothing behind, or the place, for somebody to look at. */
  close(keepsPlace: boolean): Promise<void>;
}

export interface SceneOptions {
  readonly runtime: Runtime;
  readonly seed: number;
  /** How many minutes of a phone are a minute here. */
  readonly times: number;
  readonly fleet: readonly PhonePlan[];
  readonly tampering: Tampering | null;
  /** Of each phone. */
  readonly pointsMax: number;
}

const DISK_BYTES = 128 * 1024 * 1024; // What the vandal may fill of it is an eighth.

export async function openScene(options: SceneOptions): Promise<Scene> {
  const { seed, times, fleet, tampering, pointsMax } = options;
  const pick = createPicker(seededRandom(seed));
  const pace = createPace(times);
  const disk = scarceDiskKinds()[0]?.open(options.runtime, DISK_BYTES) ?? null;
  const runtime = disk?.runtime ?? options.runtime;
  const place = disk?.place ?? openPlace();
  const network = await openNetwork(pick, tampering);
  const server = createMortalServer({ runtime, place, disk, network, flags: ["--log-level", "debug"] });
  const { directory, dataDir } = place;
  const phones = createFleet({ plans: fleet, seed, url: network.url, pace, directory, pointsMax });
  const tiers = new Map(phones.map((phone, index) => [phone, fleet[index]!.tier ?? "unlimited"]));
  const keys = await openKeyRing({
    dataDir,
    tierOf: (phone) => tiers.get(phone)!,
    isKnown: (key) => server.knows(key),
  });
  for (const phone of phones) await keys.giveGood(phone);
  const vandalsKey = await keys.create(phones[0]!.appId, "write");
  return {
    ...{ runtime, place, hasDisk: disk !== null, pick, pace, network, server, phones, keys, vandalsKey },
    async close(keepsPlace) {
      await network.close();
      if (!keepsPlace) await (disk?.close() ?? closePlace(place));
    },
  };
}
