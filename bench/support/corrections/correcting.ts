import { utcDayName, utcDayOf } from "../../../src/model/time/utc-day.ts";
import type { RequestInProcess } from "../http/in-process.ts";

/** Records of one device to hide. */
export interface HideRange {
  readonly device_id: string;
  readonly start: number;
  readonly end: number;
}

/** A correction, as its answer shows it. */
export interface MadeCorrection {
  readonly id: string;
  readonly records: number;
}

/** Makes and undoes corrections by requests to one server. */
export class Correcting {
  readonly #request: RequestInProcess;

  constructor(request: RequestInProcess) {
    this.#request = request;
  }

  hide(range: HideRange): Promise<MadeCorrection> {
    return this.make({ action: "hide", ...range });
  }

  /** Gives records other times. */
  shift(range: HideRange, byMs: number): Promise<MadeCorrection> {
    return this.make({ action: "shift_time", by_ms: byMs, ...range });
  }

  async make(correction: object): Promise<MadeCorrection> {
    const body = JSON.stringify(correction);
    const headers = { "content-type": "application/json" };
    const members = await this.#members("/api/v1/corrections", { method: "POST", headers, body });
    return (members as { correction: MadeCorrection }).correction;
  }

  async undo({ id }: MadeCorrection): Promise<void> {
    await this.#members(`/api/v1/corrections/${id}`, { method: "DELETE" });
  }

  /** The first 1,000 records of an answer's page. */
  async locations(path: string): Promise<readonly ShownRecord[]> {
    return ((await this.#members(path)) as { locations: ShownRecord[] }).locations;
  }

  async #members(path: string, init?: Parameters<RequestInProcess>[1]): Promise<unknown> {
    const answer = await this.#request(path, init);
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${path} answers ${answer.status}: ${text}`);
    return JSON.parse(text);
  }
}

export interface ShownRecord {
  readonly device_id: string;
  readonly timestamp: number;
}

/** The path of a device's records on the UTC day with this instant. */
export function dayPath(deviceId: string, dayMs: number, limit = 1000): string {
  const date = utcDayName(utcDayOf(dayMs));
  return `/api/v1/devices/${deviceId}/locations/history?start_date=${date}&end_date=${date}&limit=${limit}`;
}
