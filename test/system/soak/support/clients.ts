import { pathOfQuery, type ReferenceQuery } from "../../../reference/query.ts";
import type { ReferenceReport } from "../../../reference/records.ts";
import { pathOf } from "../../../support/test-app.ts";
import {
  BODY_FORMATS,
  type Client,
  findWrongAnswers,
  get,
  type IngestAnswer,
  post,
} from "../../support/client.ts";
import { pause } from "../../support/pause.ts";
import type { Picker } from "../../support/random.ts";
import type { Ledger } from "./ledger.ts";
import type { Tour } from "./tour.ts";

/** Clients that go on until the server is gone. What they are told is held against the ledger at once. */
export interface ClientOptions {
  readonly client: Client;
  readonly pick: Picker;
  readonly ledger: Ledger;
  /** True from the moment that the server may be gone. */
  readonly isOver: () => boolean;
  readonly onWrong: (what: string) => void;
  /** Between two batches of a client; none by default. */
  readonly restMs?: number;
}

/** Posts batch after batch, and asks between them about what was just acknowledged. */
export async function postOn(
  { client, pick, ledger, isOver, onWrong, restMs = 0 }: ClientOptions,
  tour: Tour,
): Promise<void> {
  while (!isOver()) {
    const batch = tour.nextBatch();
    let status: number;
    let answer: IngestAnswer;
    try {
      const response = await post(client, batch, pick.item(BODY_FORMATS));
      [status, answer] = [response.status, (await response.json()) as IngestAnswer];
    } catch (error) {
      ledger.leaveOpen(batch);
      if (!isOver()) onWrong(`a connection broke: ${error}`);
      return;
    }
    if (status !== 200 || answer.accepted + answer.duplicates !== batch.length) {
      onWrong(`${batch.length} reports were answered ${status} ${JSON.stringify(answer)}`);
      ledger.leaveOpen(batch);
      return;
    }
    ledger.acknowledge(batch);
    if (pick.maybe(0.3, () => true)) await ask({ client, pick, ledger, isOver, onWrong }, batch);
    if (restMs > 0) await pause(restMs);
  }
}

/** No other client reports of these devices, so the answer is known. */
async function ask(
  { client, pick, ledger, isOver, onWrong }: ClientOptions,
  batch: readonly ReferenceReport[],
): Promise<void> {
  const { device_id, timestamp } = pick.item(batch);
  const date = new Date(timestamp).toISOString().slice(0, 10);
  const parameters = { start_date: date, end_date: date, limit: 1000 };
  const query = pick.item<ReferenceQuery>([
    { endpoint: "deviceCurrent", device: device_id, parameters: {} },
    { endpoint: "deviceHistory", device: device_id, parameters },
  ]);
  try {
    for (const wrong of await findWrongAnswers(client, ledger.fleet, [query])) onWrong(wrong);
  } catch (error) {
    if (!isOver()) onWrong(`${pathOfQuery(query)}: ${error}`);
  }
}

const DAYS_BACK = [0, 1, 9, 40, 290];
const MS_PER_DAY = 86_400_000;

/** Asks about everybody at once. What is right changes meanwhile, but not that answers are in order. */
export async function readOn({ client, pick, isOver, onWrong }: ClientOptions): Promise<void> {
  while (!isOver()) {
    const [earlier, later] = [pick.item(DAYS_BACK), pick.item(DAYS_BACK)].sort((a, b) => b - a);
    const path = pick.item([
      pathOf("/api/v1/devices/nearby", {
        latitude: 42.36,
        longitude: -71.06,
        radius_miles: pick.integer(1, 50),
      }),
      pathOf("/api/v1/locations/current", { limit: pick.integer(1, 1000) }),
      pathOf("/api/v1/locations/history", {
        start_date: dateBefore(earlier!),
        end_date: dateBefore(later!),
        limit: pick.integer(1, 1000),
        offset: pick.integer(0, 3000),
      }),
    ]);
    try {
      const response = await get(client, path);
      const body = (await response.json()) as Page;
      const fault = response.status === 200 ? disorderOf(body) : `${response.status} ${JSON.stringify(body)}`;
      if (fault !== null) onWrong(`${path}: ${fault}`);
    } catch (error) {
      if (!isOver()) onWrong(`${path}: ${error}`);
      return;
    }
  }
}

interface Page {
  readonly results?: readonly { readonly distance_miles: number }[];
  readonly locations?: readonly ReferenceReport[];
  readonly pagination: { readonly total_devices?: number };
}

/** Nearby by distance, histories by time, current positions by device. */
function disorderOf({ results, locations = [], pagination }: Page): string | null {
  const isHistory = pagination.total_devices !== undefined;
  const places =
    results?.map(({ distance_miles }) => distance_miles) ??
    locations.map(({ timestamp, device_id }) => (isHistory ? timestamp : device_id));
  const wrong = places.findIndex((place, index) => index > 0 && places[index - 1]! > place);
  return wrong < 0 ? null : `item ${wrong} comes before the one ahead of it`;
}

function dateBefore(days: number): string {
  return new Date(Date.now() - days * MS_PER_DAY).toISOString().slice(0, 10);
}
