import { mapMaybe } from "../../../lib/schedule/maybe-promise.ts";
import type { Places } from "../../../map/places.ts";
import { MS_PER_MINUTE, MS_PER_SECOND } from "../../../model/time/units.ts";
import { type Stop, StopFinder, type Stops, USUAL_STOP } from "../../../service/queries/stops.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { missingDevice, UNKNOWN_DEVICE } from "../../openapi/responses.ts";
import { places } from "../../parameters/common.ts";
import { numberParameter } from "../../parameters/kinds.ts";
import { deviceId } from "../../parameters/path-parameter.ts";
import { instants, readInstants } from "../../parameters/ranges.ts";
import { incomplete } from "../../shapes/history.ts";
import { place, placeOf } from "../../shapes/place.ts";
import { EXAMPLE_REPORT } from "../../shapes/record-schemas.ts";
import { always, amount, count, instant, object, optional, plain, text } from "../../shapes/shape.ts";

const DAYS_MAX = 31;

const degrees = (name: string) => plain<number>({ type: "number", description: `${name} of its center.` });

const stop = object(
  {
    start: instant("First position, Unix ms."),
    end: instant("Last position, Unix ms."),
    latitude: degrees("Latitude"),
    longitude: degrees("Longitude"),
    positions: count("Positions within the radius of the center, without strays."),
    place: optional(place),
  },
  "A stay of at least the minimum duration.",
);

/** Written piece by piece: a hostile month may have tens of thousands of stops. */
const answer = object({
  success: always(true),
  device_id: text("The requested device."),
  incomplete: optional(incomplete),
  distance_meters: amount("Length of the path between stops, without jumps faster than 400 m/s."),
  moving_seconds: amount("Time outside stops and outside silences of more than 10 minutes."),
  stops: plain<readonly Stop[]>({ type: "array", items: stop.schema }),
});

export const deviceStops = queryEndpoint({
  operationId: "getDeviceStops",
  tag: "Devices",
  summary: "Stops of a device, and the distance it covered",
  description: [
    "A stop is at least min_minutes within radius_meters of the center of its positions. It includes a stray fix or two,",
    "and silences after which the device is in the same place. Oldest first; cut at the range's ends. The documentation has",
    `the exact rule. At most ${DAYS_MAX} days.`,
  ].join(" "),
  path: "/api/v1/devices/:deviceId/stops",
  inPath: { deviceId },
  query: {
    ...instants,
    min_minutes: numberParameter(
      "number",
      { description: "Minimum duration of a stop, in minutes.", minimum: 1, maximum: 1440 },
      USUAL_STOP.durationMsMin / MS_PER_MINUTE,
    ),
    radius_meters: numberParameter(
      "number",
      { description: "Maximum distance of positions from their center.", minimum: 1, maximum: 10_000 },
      USUAL_STOP.radiusMeters,
    ),
    places,
  },
  wrongQuery: "start=1&end=2&min_minutes=0",
  answer: {
    name: "DeviceStops",
    description: "The stops.",
    shape: answer,
    example: {
      success: true,
      device_id: EXAMPLE_REPORT.device_id,
      distance_meters: 81_923.4,
      moving_seconds: 11_940,
      stops: [
        {
          start: 1_774_012_603_000,
          end: 1_774_013_118_000,
          latitude: 53.4413505,
          longitude: -2.9326377,
          positions: 16,
        },
      ],
    },
  },
  failures: { 404: missingDevice("DeviceError", UNKNOWN_DEVICE) },
  versionOf: ({ versions }, { appId }, { deviceId }) => versions.ofDevice(appId, deviceId),
  open({ readPositions, loadPlaces }) {
    return (call, { deviceId, min_minutes, radius_meters, places, ...values }) => {
      const range = readInstants(values, DAYS_MAX);
      if (!range.ok) return call.fail(range.error);
      const rule = { durationMsMin: min_minutes * MS_PER_MINUTE, radiusMeters: radius_meters };
      const query = { deviceId, range: range.value, fields: [] };
      const result = readPositions(call.appId, query, call.request, () => new StopFinder(rule));
      return mapMaybe(result, (read) => {
        if (!read.ok) return call.fail(read.error);
        const { value: stops, isIncomplete } = read.value;
        return mapMaybe(places ? loadPlaces() : null, (loaded) =>
          call.pieces(piecesOf(deviceId, stops, isIncomplete, loaded)),
        );
      });
    };
  },
});

const PIECE_STOPS = 256;
/** The search for one place takes as long as writing a hundred stops. */
const PIECE_STOPS_WITH_PLACES = 4;

function* piecesOf(
  deviceId: string,
  { stops, distanceMeters, movingMs }: Stops,
  isIncomplete: boolean,
  places: Places | null,
): Iterable<Uint8Array<ArrayBuffer>> {
  const members = {
    success: true,
    device_id: deviceId,
    ...(isIncomplete ? { incomplete: true } : {}),
    distance_meters: distanceMeters,
    moving_seconds: movingMs / MS_PER_SECOND,
  };
  let text = `${JSON.stringify(members).slice(0, -1)},"stops":[`;
  const pieceStops = places === null ? PIECE_STOPS : PIECE_STOPS_WITH_PLACES;
  for (let from = 0; from < stops.length; from += pieceStops) {
    const some = stops.slice(from, from + pieceStops).map((each) => JSON.stringify(shown(each, places)));
    yield encoder.encode(`${text}${from === 0 ? "" : ","}${some.join()}`);
    text = "";
  }
  yield encoder.encode(`${text}]}`);
}

function shown(stop: Stop, places: Places | null) {
  return places === null ? stop : { ...stop, place: placeOf(places, stop.latitude, stop.longitude) };
}

const encoder = new TextEncoder();
