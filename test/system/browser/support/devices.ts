import type { Page } from "playwright-core";
import type { StoredProfile } from "../../../../src/web/device/profile-draft.ts";
import type { DeviceTable } from "../../../../src/web/devices/device-table.ts";
import { askPart, type PartName } from "./parts.ts";

const DEVICE_TABLE: PartName<DeviceTable> = ["devices/device-table.ts", "DeviceTable"];

/** Where all devices are, by id: time, latitude and longitude. */
export type Positions = Readonly<Record<string, readonly [number, number, number]>>;

/** As the page has them. */
export function shownPositions(page: Page): Promise<Positions> {
  return askPart(
    page,
    DEVICE_TABLE,
    ({ ids, size, timestampMs, latitude, longitude }) =>
      Object.fromEntries(
        ids
          .slice(0, size)
          .map((id, row) => [id, [timestampMs[row]!, latitude[row]!, longitude[row]!] as const]),
      ),
    null,
  );
}

/** As the server has them. */
export async function knownPositions(client: {
  readonly url: string;
  readonly key: string;
}): Promise<Positions> {
  const response = await fetch(`${client.url}/api/v1/locations/current/columns`, {
    headers: { authorization: `Bearer ${client.key}` },
  });
  const { device_id, timestamp, latitude, longitude } = (await response.json()) as Record<
    string,
    number[]
  > & {
    readonly device_id: string[];
  };
  return Object.fromEntries(
    device_id.map((id, row) => [id, [timestamp![row]!, latitude![row]!, longitude![row]!] as const]),
  );
}

/** Gives a device a name, a color, an icon or tags, as a program does. */
export async function setProfile(
  { url, key }: { readonly url: string; readonly key: string },
  deviceId: string,
  profile: StoredProfile,
): Promise<void> {
  const response = await fetch(`${url}/api/v1/devices/${encodeURIComponent(deviceId)}/profile`, {
    method: "PUT",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(profile),
  });
  if (!response.ok) throw new Error(`setting a profile: ${response.status} ${await response.text()}`);
}
