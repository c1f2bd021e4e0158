import type { ReferenceReport } from "../../../reference/records.ts";
import { pathOf } from "../../../support/test-app.ts";
import { type Client, get, store } from "../../support/client.ts";
import { ARCHIVED_DAYS } from "./erased-subject.ts";

/* Devices beside those that are erased, of which every answer must stay as it is. */

const DEVICES = ["other-1", "other-2", "other-3", "other-4"];
const USER = "friend";
const RECENT_DAYS = [0, 1, 3];
const DAY_RECORDS = 8;
const DAY_MS = 86_400_000;
/** Far from all others, so that circles around it have them alone. */
const PLACE = { latitude: 48.1, longitude: 11.5 };

/** Their records, of the days of which subjects have records too. */
export function otherReports(todayMs: number): ReferenceReport[] {
  return [...RECENT_DAYS, ...ARCHIVED_DAYS].flatMap((day) =>
    DEVICES.flatMap((device_id, device) =>
      Array.from({ length: DAY_RECORDS }, (_, index) => ({
        device_id,
        timestamp: todayMs - day * DAY_MS + index * 1000 + device,
        latitude: PLACE.latitude + device / 1e3,
        longitude: PLACE.longitude + index / 1e4,
        user_id: USER,
        speed: index,
      })),
    ),
  );
}

/** Stores what they have beside records. */
export async function storeOthers(client: Client, todayMs: number): Promise<void> {
  await store(client, otherReports(todayMs));
  const [first, second] = DEVICES;
  const start = todayMs - ARCHIVED_DAYS[0]! * DAY_MS;
  const requests: readonly [method: string, path: string, body: object][] = [
    ["PUT", `/api/v1/devices/${first}/profile`, { name: "the phone of a friend", tags: ["a"] }],
    ["POST", "/api/v1/corrections", { device_id: second, action: "hide", start, end: start + 3000 }],
    ["POST", "/ingest/overland", { locations: [{ type: "Feature", properties: { device_id: DEVICES[2] } }] }],
  ];
  for (const [method, path, body] of requests) {
    const headers = { authorization: `Bearer ${client.key}`, "content-type": "application/json" };
    const response = await fetch(client.url + path, { method, headers, body: JSON.stringify(body) });
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  }
}

/** Answers about these devices, as they were at first. */
export class UnchangedAnswers {
  readonly #answers: ReadonlyMap<string, string>;

  private constructor(answers: ReadonlyMap<string, string>) {
    this.#answers = answers;
  }

  static async of(client: Client, todayMs: number): Promise<UnchangedAnswers> {
    return new UnchangedAnswers(await answersOf(client, pathsAt(todayMs)));
  }

  async findWrong(client: Client): Promise<string[]> {
    const now = await answersOf(client, this.#answers.keys());
    return [...this.#answers].flatMap(([path, before]) => {
      const after = now.get(path)!;
      return after === before ? [] : [`${path} was ${before} and is ${after}`];
    });
  }
}

function pathsAt(todayMs: number): string[] {
  const days = { start: todayMs - 60 * DAY_MS, end: todayMs };
  const dates = { start_date: dateOf(days.start), end_date: dateOf(todayMs), limit: 1000 };
  const ofDevices = DEVICES.flatMap((device) => {
    const path = `/api/v1/devices/${device}`;
    return [
      `${path}/locations/current`,
      pathOf(`${path}/locations/history`, dates),
      pathOf(`${path}/locations/history`, { ...dates, order: "desc", limit: 10, offset: 30 }),
      pathOf(`${path}/track`, days),
      `${path}/profile`,
      `/api/v1/corrections?device_id=${device}`,
      `/api/v1/quarantine?device_id=${device}`,
    ];
  });
  return [
    ...ofDevices,
    pathOf("/api/v1/devices/nearby", { ...PLACE, radius_miles: 50, max_age_hours: 8760 }),
    `/api/v1/users/${USER}/locations/current`,
    `/api/v1/users/${USER}/devices`,
    pathOf(`/api/v1/users/${USER}/locations/history`, dates),
  ];
}

/** By path: the status and the body, without what is of the moment. */
async function answersOf(client: Client, paths: Iterable<string>): Promise<ReadonlyMap<string, string>> {
  const answers = [...paths].map(async (path) => {
    const response = await get(client, path);
    const body = (await response.text()).replace(
      /"(query_time_ms|total_candidates|data_scanned_mb)":[\d.]+/g,
      "",
    );
    return [path, `${response.status} ${body}`] as const;
  });
  return new Map(await Promise.all(answers));
}

function dateOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}
