import { until } from "../../../support/until.ts";
import { type Client, get } from "../../support/client.ts";

/** What the server says of itself. */
export interface OwnFigures {
  readonly records: number;
  readonly archivedRecords: number;
  readonly heapBytes: number;
}

/** Asks until the server knows the operator's key, which is up to 2 s after it was made. */
export async function readOwnFigures(operator: Client): Promise<OwnFigures> {
  let answer = await get(operator, "/metrics");
  await until(async () => {
    if (answer.status !== 401) return true;
    answer = await get(operator, "/metrics");
    return false;
  });
  const text = await answer.text();
  const figure = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN);
  return {
    records: figure("wherehouse_hot_records"),
    archivedRecords: figure("wherehouse_archived_records"),
    heapBytes: figure("wherehouse_heap_used_bytes"),
  };
}
