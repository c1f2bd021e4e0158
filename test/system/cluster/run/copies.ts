import { createHash } from "node:crypto";
import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../../../../src/model/location-fields.ts";
import type { Row } from "../check/history.ts";
import type { ClusterNode } from "./nodes.ts";

/** What a node answers when all of it is asked for. */

type ExportedRecord = Readonly<Record<string, unknown>> & {
  readonly device_id: string;
  readonly timestamp: number;
};

const EXPORT_MS_MAX = 60_000;

/** Rows of these devices; none of any where the node does not know one of them. */
export async function rowsOf(
  node: ClusterNode,
  key: string,
  dayMs: number,
  devices: readonly string[],
): Promise<ReadonlyMap<string, readonly Row[]>> {
  const date = dateOf(dayMs);
  const rows = new Map<string, Row[]>();
  if (devices.length === 0) return rows;
  const parameters = [
    ["start_date", date],
    ["end_date", date],
    ...devices.map((device) => ["device_id", device]),
  ];
  for await (const { device_id, timestamp, altitude } of records(node, key, parameters)) {
    const found = rows.get(device_id) ?? [];
    rows.set(device_id, found);
    found.push({ timestamp, value: Number(altitude) });
  }
  return rows;
}

/** SHA-256 of each UTC day's records in their canonical form, the one that `verify` takes (record-hash.ts). */
export async function dayHashes(
  node: ClusterNode,
  key: string,
  firstMs: number,
  lastMs: number,
): Promise<ReadonlyMap<string, string>> {
  const days = new Map<string, ExportedRecord[]>();
  const parameters = [
    ["start_date", dateOf(firstMs)],
    ["end_date", dateOf(lastMs)],
  ];
  for await (const record of records(node, key, parameters)) {
    const day = dateOf(record.timestamp);
    const found = days.get(day) ?? [];
    days.set(day, found);
    found.push(record);
  }
  const hashes = new Map<string, string>();
  for (const [day, found] of days) {
    const hash = createHash("sha256");
    found.sort((a, b) => compareBytes(a.device_id, b.device_id) || a.timestamp - b.timestamp);
    for (const record of found) hash.update(canonicalLine(record));
    hashes.set(day, hash.digest("hex"));
  }
  return hashes;
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function canonicalLine(record: ExportedRecord): string {
  const names = [...NUMBER_FIELDS, ...PROFILE_FIELDS, ...STATE_FIELDS].map(({ name }) => name);
  const members = names.filter((name) => record[name] !== undefined && record[name] !== null);
  const { device_id, timestamp } = record;
  const line = { device_id, timestamp, ...Object.fromEntries(members.map((name) => [name, record[name]])) };
  return `${JSON.stringify(line)}\n`;
}

async function* records(
  { url }: ClusterNode,
  key: string,
  parameters: readonly (readonly string[])[],
): AsyncGenerator<ExportedRecord> {
  const query = new URLSearchParams(parameters.map(([name, value]) => [name!, value!]));
  const response = await fetch(`${url}/api/v1/export?format=ndjson&${query}`, {
    headers: { authorization: `Bearer ${key}` },
    signal: AbortSignal.timeout(EXPORT_MS_MAX),
  });
  if (response.status === 404) return;
  if (response.status !== 200)
    throw new Error(`An export was answered ${response.status} ${await response.text()}`);
  const text = await response.text();
  for (const line of text.split("\n")) if (line !== "") yield JSON.parse(line) as ExportedRecord;
}

function dateOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}
