import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Place } from "../../../support/server-process.ts";
import { until } from "../../../support/until.ts";
import { pause } from "../../support/pause.ts";
import type { Picker } from "../../support/random.ts";

/* How far the seals of another process are, as its directory shows. */

const SEAL_LOOKS_MAX = 500; // 2.5 s at least. Seals are a second apart.
const SEALED_LOOKS_MAX = 12_000; // A minute at least.

export async function untilSealing(place: Place, pick: Picker): Promise<void> {
  let looks = 0; // The kill comes without a seal if there is nothing to seal.
  await until(() => isSealingNow(place) || ++looks > SEAL_LOOKS_MAX);
  await pause(pick.integer(0, 600)); // Its process begins in some 200 ms.
}

/** Profiles are edited all the time, so there is always something to seal. */
export async function untilSealed({ dataDir }: Place, pick: Picker): Promise<void> {
  const path = join(dataDir, "archive/manifest.json");
  const manifest = () => (existsSync(path) ? readFileSync(path, "utf8") : null);
  const before = manifest();
  let looks = 0;
  await until(() => manifest() !== before || ++looks > SEALED_LOOKS_MAX);
  if (looks > SEALED_LOOKS_MAX) throw new Error("no seal has ended");
  await pause(pick.integer(0, 200)); // Its files are removed, and its entries of the log.
}

/** A seal works in a folder that is empty between seals. */
export function isSealingNow({ dataDir }: Place): boolean {
  const scratch = join(dataDir, "archive/scratch");
  return existsSync(scratch) && readdirSync(scratch).length > 0;
}

export function daysIn({ dataDir }: Place): number {
  const archive = join(dataDir, "archive");
  if (!existsSync(archive)) return 0; // Nothing ever started.
  return readdirSync(archive).filter((name) => name.startsWith("day=")).length;
}

/** On a machine that is busy with much else, every seal may have been killed: the last one is let through. */
export async function untilArchived(place: Place): Promise<void> {
  await until(() => daysIn(place) > 0);
}
