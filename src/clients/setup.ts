import type { Binding } from "../model/binding.ts";
import type { ClientName } from "./client.ts";

/** What a person types into an app, or puts into a file, so that it reports to us. */
export interface Setup {
  /** The app as its users call it. */
  readonly app: string;
  /** Where in the app the fields are. */
  readonly place: string;
  readonly fields: readonly SetupField[];
  /** Text that goes into a file unchanged. */
  readonly paste: string | null;
  /** A link that sets everything at once, mostly shown as a QR code. */
  readonly link: SetupLink | null;
  /** Whether it reports about one device, so that its key is best bound. */
  readonly isOneDevice: boolean;
  /** What else its users have to know, in sentences. */
  readonly notes: readonly string[];
}

interface SetupField {
  /** As the app calls it. */
  readonly name: string;
  readonly value: string;
}

interface SetupLink {
  readonly url: string;
  /** Whether the phone opens the app for it. Otherwise it is scanned in the app, because a browser would take it. */
  readonly opensApp: boolean;
}

/** The device, the user and the server that an app is set up for. */
export interface SetupRequest extends Binding {
  /** Without a slash at its end. */
  readonly serverUrl: string;
  /** The key's text, which is bound as said here. */
  readonly key: string;
}

/** The address for a client that sends its key in a header. */
export function addressOf({ serverUrl }: SetupRequest, client: ClientName): string {
  return `${serverUrl}/ingest/${client}`;
}

/** The address for a client that can set nothing but its URL: the key is in the path. */
export function keyedAddressOf(request: SetupRequest, client: ClientName): string {
  return `${addressOf(request, client)}/k/${request.key}`;
}

/** Like `keyedAddressOf`, with the device if it is known, for a client that has no field for its name either. */
export function deviceAddressOf(request: SetupRequest, client: ClientName): string {
  const { deviceId } = request;
  return keyedAddressOf(request, client) + (deviceId === null ? "" : `/${inUrl(deviceId)}`);
}

/** A text as part of a URL. A URL may have apostrophes, but OsmAnd's formatter swallows them. */
export function inUrl(text: string): string {
  return encodeURIComponent(text).replaceAll("'", "%27");
}

/** Advice on the key and the address, in sentences, whichever app is set up. */
export function adviceFor(setup: Setup, request: SetupRequest): string[] {
  const advice: string[] = [];
  const { serverUrl, key, deviceId, userId } = request;
  if (setup.isOneDevice && deviceId === null)
    advice.push(
      "The key is not bound to a device: a person who gets it can report for every device. Add --device and --user.",
    );
  if (!setup.isOneDevice && (deviceId !== null || userId !== null))
    advice.push("The key is bound, so everything that comes from there counts as one device or user.");
  if (setup.fields.some(({ value }) => value.includes(`/k/${key}`)))
    advice.push("The key is in the URL, so logs of proxies and browsers may keep it: use it for this alone.");
  if (serverUrl.startsWith("http:"))
    advice.push("http is not encrypted: on the way anybody can read key and positions.");
  if (LOOPBACK.test(serverUrl))
    advice.push("A phone can't reach this address: it means the phone itself there.");
  return advice;
}

const LOOPBACK = /^https?:\/\/(localhost|127\.[\d.]+|\[::1\])(?=[:/]|$)/;
