import { type Client, get } from "../../support/client.ts";

/** A record as the history of an app shows it. */
export interface StoredRecord {
  readonly device_id: string;
  readonly timestamp: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly speed?: number;
}

const PAGE = 1000;
const DAYS = 3; // A run's points are of the last day.
const MS_PER_DAY = 86_400_000;

/** Every record of the app, page by page. */
export async function readStore(client: Client): Promise<readonly StoredRecord[]> {
  const [start_date, end_date] = [-DAYS, 1].map((days) =>
    new Date(Date.now() + days * MS_PER_DAY).toISOString().slice(0, 10),
  ) as [string, string];
  const records: StoredRecord[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const query = `start_date=${start_date}&end_date=${end_date}&limit=${PAGE}&offset=${offset}`;
    const answer = await get(client, `/api/v1/locations/history?${query}`);
    if (answer.status !== 200)
      throw new Error(`The history was answered ${answer.status} ${await answer.text()}`);
    const page = (await answer.json()) as { locations: StoredRecord[]; pagination: { has_more: boolean } };
    records.push(...page.locations);
    if (!page.pagination.has_more) return records;
  }
}
