import { type LocalDay, parseDay, type SpanName, spanNamed } from "../time/local-day.ts";

/* What is looked at, as it stands in the address of the page, to be kept, sent to others and gone back to. */

export interface Address {
  readonly device: string | null;
  /** Null for today. */
  readonly day: LocalDay | null;
  readonly span: SpanName;
  /** Null for the browser's own. */
  readonly zone: string | null;
  /** Where the map looks; null where nobody has moved it. */
  readonly place: AddressPlace | null;
}

export interface AddressPlace {
  readonly latitude: number;
  readonly longitude: number;
  readonly zoom: number;
}

const ZOOM_MAX = 24;

/** Of a query, as in `location.search`. What makes no sense is left out. */
export function parseAddress(search: string): Address {
  const parameters = new URLSearchParams(search);
  return {
    device: parameters.get("device") || null,
    day: parseDay(parameters.get("day") ?? ""),
    span: spanNamed(parameters.get("span")).name,
    zone: parameters.get("zone"),
    place: parsePlace(parameters.get("at")),
  };
}

/** The query, with its `?`; empty where everything is as it is at first. */
export function addressText({ device, day, span, zone, place }: Address): string {
  const parameters: string[] = [];
  const add = (name: string, value: string | null) => {
    // Commas, colons and slashes may stand in a query as they are, and are easier to read.
    if (value !== null)
      parameters.push(`${name}=${encodeURIComponent(value).replace(/%2C/g, ",").replace(/%2F/g, "/")}`);
  };
  add("device", device);
  if (device !== null) {
    add("day", day);
    add("span", span === "day" ? null : span);
  }
  add("zone", zone);
  add("at", place === null ? null : placeText(place));
  return parameters.length === 0 ? "" : `?${parameters.join("&")}`;
}

/** Five places are a meter. */
function placeText({ latitude, longitude, zoom }: AddressPlace): string {
  return [latitude.toFixed(5), longitude.toFixed(5), zoom.toFixed(2)].join();
}

function parsePlace(text: string | null): AddressPlace | null {
  if (text === null || !/^-?\d+(\.\d+)?,-?\d+(\.\d+)?,\d+(\.\d+)?$/.test(text)) return null;
  const [latitude, longitude, zoom] = text.split(",").map(Number) as [number, number, number];
  const isOnMap = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 && zoom <= ZOOM_MAX;
  return isOnMap ? { latitude, longitude, zoom } : null;
}
