import { type LocalDay, parseDay, type SpanName, VISITOR_SPANS } from "../time/local-day.ts";

/* The state of the page in its address, for bookmarks, for sharing, and for the browser's back and forward. */

export interface Address {
  readonly device: string | null;
  /** Null for today. */
  readonly day: LocalDay | null;
  /** Null for the first one of the user. */
  readonly span: SpanName | null;
  /** Null for the browser's zone. */
  readonly zone: string | null;
  /** Null if the user has not moved the map. */
  readonly place: AddressPlace | null;
}

export interface AddressPlace {
  readonly latitude: number;
  readonly longitude: number;
  readonly zoom: number;
}

const ZOOM_MAX = 24;

/** Parses `location.search`, and ignores what is malformed. */
export function parseAddress(search: string): Address {
  const parameters = new URLSearchParams(search);
  return {
    device: parameters.get("device") || null,
    day: parseDay(parameters.get("day") ?? ""),
    span: VISITOR_SPANS.find(({ name }) => name === parameters.get("span"))?.name ?? null,
    zone: parameters.get("zone"),
    place: parsePlace(parameters.get("at")),
  };
}

/** The query with its `?`; empty for the initial state. */
export function addressText({ device, day, span, zone, place }: Address): string {
  const parameters: string[] = [];
  const add = (name: string, value: string | null) => {
    // Commas and slashes are allowed in a query, and easier to read.
    if (value !== null)
      parameters.push(`${name}=${encodeURIComponent(value).replace(/%2C/g, ",").replace(/%2F/g, "/")}`);
  };
  add("device", device);
  if (device !== null) {
    add("day", day);
    add("span", span);
  }
  add("zone", zone);
  add("at", place === null ? null : placeText(place));
  return parameters.length === 0 ? "" : `?${parameters.join("&")}`;
}

/** The fifth decimal is about a meter. */
function placeText({ latitude, longitude, zoom }: AddressPlace): string {
  return [latitude.toFixed(5), longitude.toFixed(5), zoom.toFixed(2)].join();
}

function parsePlace(text: string | null): AddressPlace | null {
  if (text === null || !/^-?\d+(\.\d+)?,-?\d+(\.\d+)?,\d+(\.\d+)?$/.test(text)) return null;
  const [latitude, longitude, zoom] = text.split(",").map(Number) as [number, number, number];
  const isOnMap = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 && zoom <= ZOOM_MAX;
  return isOnMap ? { latitude, longitude, zoom } : null;
}
