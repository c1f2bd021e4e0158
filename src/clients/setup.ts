import type { Binding } from "../model/binding.ts";
import type { ClientName } from "./client.ts";

/** What a person types into an app, or pastes into a file, to make it report to this server. */
export interface Setup {
  /** The app's name among its users. */
  readonly app: string;
  /** Where the app has the fields. */
  readonly place: string;
  readonly fields: readonly SetupField[];
  /** Text to paste into a file unchanged. */
  readonly paste: string | null;
  /** A link that sets everything, usually shown as a QR code. */
  readonly link: SetupLink | null;
  /** Whether it reports about one device, so that its key should be bound. */
  readonly isOneDevice: boolean;
  /** What else its users have to know, in sentences. */
  readonly notes: readonly string[];
}

interface SetupField {
  /** The app's label of the field. */
  readonly name: string;
  readonly value: string;
}

interface SetupLink {
  readonly url: string;
  /** Whether the phone opens the app for the link. If not, the user scans it in the app. */
  readonly opensApp: boolean;
}

/** The device, the user and the server that an app is set up for. */
export interface SetupRequest extends Binding {
  readonly serverUrl: string;
  /** The key's text. The key is bound to this device and user. */
  readonly key: string;
}

/** The address for a client that sends its key in a header. */
export function addressOf({ serverUrl }: SetupRequest, client: ClientName): string {
  return `${serverUrl}/ingest/${client}`;
}

/** The address for a client that can set only a URL: it has the key in its path. */
export function keyedAddressOf(request: SetupRequest, client: ClientName): string {
  return `${addressOf(request, client)}/k/${request.key}`;
}

/** Like `keyedAddressOf`, plus the device if known, for a client without a field for the device's name. */
export function deviceAddressOf(request: SetupRequest, client: ClientName): string {
  const { deviceId } = request;
  return keyedAddressOf(request, client) + (deviceId === null ? "" : `/${inUrl(deviceId)}`);
}

/** A text as part of a URL. URLs may contain apostrophes, but OsmAnd's formatter drops them. */
export function inUrl(text: string): string {
  return encodeURIComponent(text).replaceAll("'", "%27");
}

/** Advice on the key and the address for the setup of any app, in sentences. */
export function adviceFor(setup: Setup, request: SetupRequest): string[] {
  const advice: string[] = [];
  const { serverUrl, key, deviceId, userId } = request;
  if (setup.isOneDevice && deviceId === null)
    advice.push(
      "The key is not bound to a device: anyone who has it can report for every device. Add --device and --user.",
    );
  if (!setup.isOneDevice && (deviceId !== null || userId !== null))
    advice.push("The key is bound, so all reports from this sender count as one device or user.");
  if (setup.fields.some(({ value }) => value.includes(`/k/${key}`)))
    advice.push(
      "The URL contains the key, so logs of proxies and browsers may store it: use the key only for this.",
    );
  if (serverUrl.startsWith("http:"))
    advice.push("http is not encrypted: everyone on the network path can read the key and the positions.");
  if (LOOPBACK.test(serverUrl))
    advice.push("A phone can't reach this address: on the phone it means the phone itself.");
  return advice;
}

const LOOPBACK = /^https?:\/\/(localhost|127\.[\d.]+|\[::1\])(?=[:/]|$)/;
