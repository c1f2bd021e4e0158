import { afterAll, describe, expect } from "bun:test";
import { RANDOM_SEED } from "../../support/random-runs.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  readFirstKey,
  runCommand,
  startReady,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { type Client, get, store } from "../support/client.ts";
import { test } from "../support/process-test.ts";
import { createPicker } from "../support/random.ts";

/*
 * Goal: `kill -9` at any moment leaves all or nothing of a correction, and what was acknowledged. Method: the real
 * program, killed in the middle of clients each of which hides, shifts or assigns all records of its device, three
 * pieces of an entry, or assigns the device, and undoes that, again and again, while seals archive half of them.
 */

const KILLS = 3;
const DEVICES = ["phone 1", "phone 2", "phone 3", "phone 4"];
const RECORDS = 2500;
const PAGE = 1000;
const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;
const SHIFT_MS = MINUTE_MS / 2;

/** A correction of all records of a device, as a client sends it and as a list shows it. */
interface WholeCorrection {
  readonly action: "hide" | "shift_time" | "assign";
  readonly by_ms?: number;
  readonly to_device_id?: string;
  readonly start?: number;
  readonly end?: number;
}

/** The times of records that a device shows, and those that the device shows to which they may be assigned. */
type ShownTimes = readonly [own: readonly number[], other: readonly number[]];

function shownAfter({ action }: WholeCorrection, times: readonly number[]): ShownTimes {
  if (action === "hide") return [[], []];
  return action === "assign" ? [[], times] : [times.map((timeMs) => timeMs + SHIFT_MS), []];
}

/** What a client knows of its device's correction. */
class Corrector {
  readonly device: string;
  readonly other: string;
  readonly times: readonly number[];
  /** The correction that it was told is active; null if it was told that none is. */
  active: string | null = null;
  /** Whether it sent something that was never answered. */
  isUnsure = false;
  acknowledged = 0;
  readonly #corrections: readonly WholeCorrection[];
  /** Which of them it sends next, counted round. */
  #next: number;

  constructor(device: string, nowMs: number, next: number) {
    this.device = device;
    this.other = `${device} as another`;
    // Half of them in days that a seal takes.
    this.times = Array.from({ length: RECORDS }, (_, i) =>
      i < RECORDS / 2 ? nowMs - 10 * DAY_MS + i * MINUTE_MS : nowMs - (RECORDS - i) * MINUTE_MS,
    );
    const range = { start: this.times[0]!, end: this.times.at(-1)! + 1 };
    this.#corrections = [
      { action: "hide", ...range },
      { action: "shift_time", by_ms: SHIFT_MS, ...range },
      { action: "assign", to_device_id: this.other, ...range },
      { action: "assign", to_device_id: this.other },
    ];
    this.#next = next;
  }

  /** Corrects and undoes until the server is gone. */
  async run({ url, key }: Client): Promise<void> {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    for (;;) {
      const isUndoing = this.active !== null;
      const wanted = this.#corrections[this.#next % this.#corrections.length]!;
      if (!isUndoing) this.#next++;
      this.isUnsure = true;
      const response = await fetch(`${url}/api/v1/corrections${isUndoing ? `/${this.active}` : ""}`, {
        ...{ method: isUndoing ? "DELETE" : "POST", headers },
        ...(isUndoing ? {} : { body: JSON.stringify({ device_id: this.device, ...wanted }) }),
      });
      const { correction } = (await response.json()) as { correction: { id: string; records: number } };
      expect([response.status, correction?.records]).toEqual([200, RECORDS]);
      this.active = isUndoing ? null : correction.id;
      this.isUnsure = false;
      this.acknowledged++;
    }
  }

  /** Compares what the server shows with what it said, and takes over what it made of the last request. */
  async settle(client: Client): Promise<void> {
    const list = `/api/v1/corrections?state=active&device_id=${encodeURIComponent(this.device)}`;
    const { corrections } = (await (await get(client, list)).json()) as {
      corrections: ({ id: string } & WholeCorrection)[];
    };
    const active = corrections.map(({ id }) => id);
    if (!this.isUnsure) expect(active).toEqual(this.active === null ? [] : [this.active]);
    expect(active.length).toBeLessThanOrEqual(1);
    const [first] = corrections;
    const expected: ShownTimes = first === undefined ? [this.times, []] : shownAfter(first, this.times);
    for (const [at, device] of [this.device, this.other].entries()) {
      const times = expected[at]!;
      expect(await this.shown(client, device)).toEqual([...times]);
      expect(await this.newest(client, device)).toBe(times.at(-1) ?? null);
    }
    this.active = active[0] ?? null;
    this.isUnsure = false;
  }

  async shown(client: Client, device: string): Promise<number[]> {
    const dateOf = (timeMs: number) => new Date(timeMs).toISOString().slice(0, 10);
    const dates = `start_date=${dateOf(this.times[0]!)}&end_date=${dateOf(this.times.at(-1)! + SHIFT_MS)}`;
    const times: number[] = [];
    for (let hasMore = true; hasMore; ) {
      const path = `/api/v1/devices/${encodeURIComponent(device)}/locations/history`;
      const response = await get(client, `${path}?${dates}&limit=${PAGE}&offset=${times.length}`);
      const page = (await response.json()) as {
        locations: { timestamp: number }[];
        pagination: { has_more: boolean };
      };
      times.push(...page.locations.map(({ timestamp }) => timestamp));
      hasMore = page.pagination.has_more;
    }
    return times;
  }

  /** The time of the device's current position; null if the device is unknown. */
  async newest(client: Client, device: string): Promise<number | null> {
    const response = await get(client, `/api/v1/devices/${encodeURIComponent(device)}/locations/current`);
    const { location } = (await response.json()) as { location?: { timestamp: number } };
    return response.status === 404 ? null : location!.timestamp;
  }
}

describe.each([...RUNTIMES])("on $name", (runtime) => {
  const place: Place = openPlace();
  afterAll(() => closePlace(place));

  test("kill -9 leaves corrections of several pieces whole or not at all, and those that were acknowledged", async () => {
    const pick = createPicker(seededRandom(RANDOM_SEED + runtime.name.length));
    const serve = () => startReady(runtime, place, ["--seal-every", "1s"]);
    const nowMs = Date.now();
    const correctors = DEVICES.map((device, at) => new Corrector(device, nowMs, at));
    let server = await serve();
    const clientOf = ({ url }: { url: string }): Client => ({ url, key: readFirstKey(place) });
    for (const { device, times } of correctors)
      await store(
        clientOf(server),
        times.map((timestamp) => ({ device_id: device, timestamp, latitude: 53.4, longitude: -2.9 })),
      );
    for (let kill = 0; kill < KILLS; kill++) {
      const acknowledged = () => correctors.reduce((sum, corrector) => sum + corrector.acknowledged, 0);
      const enough = acknowledged() + pick.integer(1, 12);
      const client = clientOf(server);
      let isOver = false;
      const running = correctors.map((corrector) =>
        corrector.run(client).catch((error: unknown) => {
          if (!isOver) throw error;
        }),
      );
      await Promise.race([until(() => acknowledged() >= enough), ...running]);
      isOver = true;
      server.kill("SIGKILL");
      await server.ended;
      await Promise.all(running);
      server = await serve();
      for (const corrector of correctors) await corrector.settle(clientOf(server));
      if (kill === 0) await server.says(/Archived \d/); // Later kills find half of the records archived.
    }
    expect((await server.stop()).code).toBe(0);
    const { code, out } = await runCommand(runtime, place, ["verify", "--json"]);
    const { problems, archive } = JSON.parse(out);
    expect([code, problems]).toEqual([0, []]);
    expect(archive.records).toBeGreaterThan(0);
  });
});
