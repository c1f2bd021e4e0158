import {
  createReferenceRecords,
  type ReferenceRecords,
  type ReferenceReport,
} from "../../../reference/records.ts";
import { type Client, findWrongAnswers, get, store } from "../../support/client.ts";
import { devicePages } from "./check.ts";

/* A device or a user to erase, and what is stored of it everywhere. */

/** Days before today; all but the first two are archived. */
const RECENT_DAYS = [0, 2];
export const ARCHIVED_DAYS = [9, 11, 12, 40, 41];
const LATE_DAYS = [11, 40];
const HIDDEN_DAY = 12;
const DAY_RECORDS = 6;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Its devices have records of users who are erased, too. */
const OTHER_USER = "keeper";

export interface SubjectOptions {
  readonly number: number;
  readonly appId: string;
  /** The start of today. */
  readonly todayMs: number;
}

export class ErasedSubject {
  /** Every third one is a user. */
  readonly kind: "device" | "user";
  /** The id of the device or the user. */
  readonly id: string;
  readonly deviceId: string;
  /** Whether reports of it are refused once it is erased. */
  readonly isBlocked: boolean;
  /** Its reports of days that a seal archives. */
  readonly archived: readonly ReferenceReport[];
  readonly #later: readonly ReferenceReport[];
  readonly #options: SubjectOptions;

  constructor(options: SubjectOptions) {
    const { number } = options;
    // No id is a part of another one.
    const name = String(number).padStart(4, "0");
    this.#options = options;
    this.kind = number % 3 === 2 ? "user" : "device";
    this.deviceId = `subject-${name}`;
    this.id = this.kind === "user" ? `person-${name}` : this.deviceId;
    this.isBlocked = number % 4 === 1;
    this.archived = ARCHIVED_DAYS.flatMap((day) => this.#reportsOf(day, 0, DAY_RECORDS));
    const late = LATE_DAYS.flatMap((day) => this.#reportsOf(day, DAY_RECORDS, 2));
    this.#later = [...late, ...RECENT_DAYS.flatMap((day) => this.#reportsOf(day, 0, DAY_RECORDS))];
  }

  /** What answers show of the device until it is erased. */
  get before(): ReferenceRecords {
    const { start, end } = this.#hiddenRange;
    const isHidden = ({ timestamp }: ReferenceReport) =>
      this.kind === "device" && timestamp >= start && timestamp < end;
    return this.#recordsOf([...this.archived, ...this.#later].filter((report) => !isHidden(report)));
  }

  /** The same once it is erased. */
  get after(): ReferenceRecords {
    if (this.kind === "device") return this.#recordsOf([]);
    return this.#recordsOf([...this.archived, ...this.#later].filter(({ user_id }) => user_id !== this.id));
  }

  /** The body of the request. */
  get wanted(): object {
    const subject = this.kind === "device" ? { device_id: this.id } : { user_id: this.id };
    return { ...subject, ...(this.isBlocked ? { block: true } : {}) };
  }

  get report(): ReferenceReport {
    return { ...this.archived[0]!, ...(this.kind === "user" ? { user_id: this.id } : {}) };
  }

  /** Stores late and recent reports, a profile, corrections, and messages that can't be used. */
  async store(client: Client, boundKey: string | null): Promise<void> {
    await store(client, this.#later);
    await this.#send(client, "PUT", `/api/v1/devices/${this.deviceId}/profile`, { name: this.#profileName });
    if (this.kind === "user") return;
    await this.#correct(client);
    await this.#sendUnusable(client, { device_id: this.deviceId });
    if (boundKey !== null) await this.#sendUnusable({ ...client, key: boundKey }, {});
  }

  /** Compares what answers show of it with what they must. */
  async findWrong(client: Client, expected: ReferenceRecords): Promise<string[]> {
    const device = this.deviceId;
    const pages = devicePages(expected, device);
    const [page] = devicePages(this.before, device); // Also asked if no record is left.
    const ofUser = this.kind === "user" ? { user: this.id, parameters: {} } : null;
    return findWrongAnswers(client, expected, [
      ...(pages.length > 0 ? pages : [page!]),
      { endpoint: "deviceCurrent", device, parameters: {} },
      ...(ofUser === null
        ? []
        : [
            { endpoint: "userCurrent", ...ofUser } as const,
            { endpoint: "userHistory", ...ofUser } as const,
            { endpoint: "userDevices", ...ofUser } as const,
          ]),
    ]);
  }

  /** What is left beside records, once it is erased. */
  async findLeft(client: Client): Promise<string[]> {
    const [profile, corrections, messages] = await Promise.all([
      get(client, `/api/v1/devices/${this.deviceId}/profile`),
      get(client, `/api/v1/corrections?device_id=${this.deviceId}`),
      get(client, `/api/v1/quarantine?device_id=${this.deviceId}`),
    ]);
    const wrong: string[] = [];
    const { profile: members } = (await profile.json()) as { profile?: { name?: string } };
    const name = members?.name ?? null;
    const expectedName = this.kind === "user" ? this.#profileName : null;
    if (name !== expectedName) wrong.push(`the profile of ${this.deviceId} has the name ${name}`);
    const { corrections: list } = (await corrections.json()) as { corrections: unknown[] };
    if (list.length > 0) wrong.push(`${this.deviceId} has ${list.length} corrections`);
    const { entries } = (await messages.json()) as { entries: unknown[] };
    if (entries.length > 0) wrong.push(`${this.deviceId} has ${entries.length} messages in the quarantine`);
    return wrong;
  }

  get #profileName(): string {
    return `the phone of ${this.deviceId}`;
  }

  get #hiddenRange() {
    const start = this.#options.todayMs - HIDDEN_DAY * DAY_MS;
    return { start, end: start + DAY_MS };
  }

  #recordsOf(reports: readonly ReferenceReport[]): ReferenceRecords {
    const records = createReferenceRecords(this.#options.appId);
    records.report(reports);
    return records;
  }

  #reportsOf(day: number, from: number, count: number): ReferenceReport[] {
    const { todayMs, number } = this.#options;
    return Array.from({ length: count }, (_, index) => ({
      device_id: this.deviceId,
      // Today has only its first minutes behind it, perhaps.
      timestamp: todayMs - day * DAY_MS + (from + index) * (day === 0 ? 1000 : HOUR_MS) + number,
      latitude: 53.4 + number / 1e4,
      longitude: -2.9 + (from + index) / 1e4,
      user_id: this.kind === "user" && index % 2 === 0 ? `person-${this.deviceId.slice(-4)}` : OTHER_USER,
      battery_level: 50 + index,
    }));
  }

  /** Hides a day, and the next one by a correction that is undone. */
  async #correct(client: Client): Promise<void> {
    const { start, end } = this.#hiddenRange;
    const hide = { device_id: this.deviceId, action: "hide", note: `of ${this.deviceId}` };
    await this.#send(client, "POST", "/api/v1/corrections", { ...hide, start, end });
    const range = { start: end, end: end + DAY_MS };
    const { correction } = await this.#send(client, "POST", "/api/v1/corrections", { ...hide, ...range });
    await this.#send(client, "DELETE", `/api/v1/corrections/${correction!.id}`);
  }

  async #sendUnusable(client: Client, properties: object): Promise<void> {
    const body = { locations: [{ type: "Feature", properties }] };
    await this.#send(client, "POST", "/ingest/overland", body);
  }

  async #send({ url, key }: Client, method: string, path: string, body?: object) {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(url + path, { method, headers, ...init });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as { correction?: { id: string } };
  }
}
