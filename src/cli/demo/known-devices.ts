/** Where the server saw a device last, and when. */
export interface KnownDevice {
  readonly timestampMs: number;
  readonly latitude: number;
  readonly longitude: number;
}

/** The devices of a key's app, by id, as a running server tells them. */
export async function fetchKnownDevices(url: string, key: string): Promise<ReadonlyMap<string, KnownDevice>> {
  const response = await fetch(`${url}/api/v1/locations/current/columns`, {
    headers: { authorization: `Bearer ${key}` },
  });
  if (!response.ok) throw new Error(`The server answered ${response.status}: ${await response.text()}`);
  const { device_id, timestamp, latitude, longitude } = (await response.json()) as Columns;
  return new Map(
    device_id.map((id, row) => [
      id,
      { timestampMs: timestamp[row]!, latitude: latitude[row]!, longitude: longitude[row]! },
    ]),
  );
}

interface Columns {
  readonly device_id: readonly string[];
  readonly timestamp: readonly number[];
  readonly latitude: readonly number[];
  readonly longitude: readonly number[];
}
