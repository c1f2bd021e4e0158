import type { ClientName } from "../client.ts";
import type { SetupRequest } from "./setup.ts";

/** Where a client sends that names its key in a header. */
export function addressOf({ serverUrl }: SetupRequest, client: ClientName): string {
  return `${serverUrl}/ingest/${client}`;
}

/** Where one sends that has nothing but its URL: the path has the key. */
export function keyedAddressOf(request: SetupRequest, client: ClientName): string {
  return `${addressOf(request, client)}/k/${request.key}`;
}

/** The same with the device, where it is known, for those that have no name for it either. */
export function deviceAddressOf(request: SetupRequest, client: ClientName): string {
  const { deviceId } = request;
  return keyedAddressOf(request, client) + (deviceId === null ? "" : `/${inUrl(deviceId)}`);
}

/** A text as a part of a URL. An apostrophe may stand in one, but OsmAnd's formatter swallows it. */
export function inUrl(text: string): string {
  return encodeURIComponent(text).replaceAll("'", "%27");
}
