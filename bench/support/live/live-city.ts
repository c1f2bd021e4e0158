import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { assert } from "../../../src/lib/assert.ts";
import { createRandom } from "../fleets/random.ts";
import { type City, type CityOptions, createCity } from "../http/city.ts";
import type { Cores } from "../http/cores.ts";
import { type Reporter, startReporter } from "../http/reports/reporter.ts";
import { startWherehouse, type WherehouseProcess } from "../servers/server.ts";

/** A server whose devices all move in turn, with possible viewers. */

const ROOT = join(import.meta.dir, "../../..");
/** The service's limit per key. */
const VIEWERS_A_KEY = 60;
/** The maximum step of a device. */
const STEP_DEGREES = 0.001;
/** The rate of the initial reports. */
const FILL_REPORTS_PER_SECOND = 20_000;

export interface LiveCity {
  readonly city: City;
  readonly server: WherehouseProcess;
  readonly reporter: Reporter;
  stop(): Promise<void>;
}

export async function startLiveCity(
  options: CityOptions,
  viewersMax: number,
  cores: Cores,
): Promise<LiveCity> {
  const city = createCity(options);
  // An app may use half of all viewers.
  const flags = ["--max-viewers", String(2 * viewersMax + 2)];
  const server = await startWherehouse(undefined, cores.serverLauncher, flags);
  const { url, key } = server;
  const reporter = await startReporter(
    { city: options, url, key, seed: options.seed },
    cores.reporterLauncher,
  );
  await reporter.report(FILL_REPORTS_PER_SECOND, (1.2 * city.live.length) / FILL_REPORTS_PER_SECOND);
  return {
    city,
    server,
    reporter,
    async stop() {
      await reporter.end();
      await server.stop();
    },
  };
}

/** Viewers, each with a box around a device that contains this share of the devices. */
export async function viewersWithBoxes(
  { city, server }: LiveCity,
  count: number,
  share: number,
  seed: number,
) {
  const random = createRandom(seed);
  const keys = Array.from({ length: Math.ceil(count / VIEWERS_A_KEY) }, () => createKey(server.dataDir));
  await known(server.url, keys.at(-1)!);
  return Array.from({ length: count }, (_, viewer) => {
    const box = boxAround(city, city.live[Math.floor(random() * city.live.length)]!, share);
    return { path: `/api/v1/live?bbox=${box.join(",")}`, key: keys[Math.floor(viewer / VIEWERS_A_KEY)]! };
  });
}

function createKey(dataDir: string): string {
  const words = ["keys", "create", "--app", "default", "--permission", "read", "--tier", "unlimited"];
  const argv = ["src/main.ts", ...words, "--data-dir", dataDir];
  const { status, stdout } = spawnSync(process.execPath, argv, { cwd: ROOT, encoding: "utf8" });
  assert(status === 0, "a key of the bench's is made");
  return stdout.trim();
}

/** Waits until the server knows the key. */
async function known(url: string, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  while ((await fetch(`${url}/api/v1/locations/current?limit=1`, { headers })).status === 401)
    await Bun.sleep(50);
}

function boxAround({ metropolis, live }: City, center: number, share: number): readonly number[] {
  const { latitude, longitude } = metropolis;
  const away = (device: number) =>
    Math.max(
      Math.abs(latitude[device]! - latitude[center]!),
      Math.abs(longitude[device]! - longitude[center]!),
    );
  const degrees = Math.max(
    STEP_DEGREES,
    Float64Array.from(live, away).sort()[Math.floor(live.length * share)]!,
  );
  const [west, south] = [longitude[center]! - degrees, latitude[center]! - degrees];
  return [west, south, west + 2 * degrees, south + 2 * degrees].map((edge) => Number(edge.toFixed(6)));
}
