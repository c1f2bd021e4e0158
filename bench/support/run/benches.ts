import type { Bench } from "./bench.ts";
import type { Benches } from "./command-line.ts";

/** All benches by file under `bench/benches`, in the order in which they run. */
const FILES = [
  "near/nearby",
  "near/beside",
  "near/growth",
  "near/peers",
  "near/places",
  "near/geofences",
  "server/geofence-preview",
  "server/ingest",
  "server/fenced-ingest",
  "server/clients",
  "store/apply",
  "store/replay",
  "store/memory",
  "server/device-page",
  "server/columns",
  "server/http",
  "server/metering",
  "server/cluster",
  "server/nodes",
  "server/mqtt",
  "server/doctor",
  "server/track",
  "server/tracks",
  "server/days",
  "server/corrections",
  "server/live",
  "browser/page",
  "browser/seen",
  "browser/fenced-map",
  "server/density",
  "server/tiles",
  "server/start",
  "store/archive",
  "store/late",
  "store/seal",
  "store/erase",
  "store/ready",
  "store/decade",
  "server/fairness",
  "store/import",
  "store/export",
  "store/writers",
  "store/stops",
  "store/year",
];

/** The names for `npm run bench`. */
export const BENCH_NAMES: readonly string[] = FILES.map(nameOf);

export async function loadBenches(): Promise<Benches> {
  const benches = new Map<string, Bench>();
  for (const file of FILES) benches.set(nameOf(file), await loadFile(file));
  return benches;
}

/** Loads one bench, without the code of the others. */
export function loadBench(name: string): Promise<Bench> {
  return loadFile(FILES.find((file) => nameOf(file) === name)!);
}

async function loadFile(file: string): Promise<Bench> {
  const { bench } = (await import(`../../benches/${file}.ts`)) as { bench: Bench };
  return bench;
}

function nameOf(file: string): string {
  return file.slice(file.indexOf("/") + 1);
}
