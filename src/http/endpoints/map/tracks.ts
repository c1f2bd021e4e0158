import { SharedPool } from "../../../lib/schedule/shared-pool.ts";
import type { ServiceError } from "../../../model/errors.ts";
import type { AppId } from "../../../model/ids.ts";
import { DEVICES_MAX, VERTICES_MAX } from "../../../service/queries/fleet-tracks.ts";
import type { RangeAnswer } from "../../../service/queries/history/read-stretches.ts";
import type { FleetTracks } from "../../../service/queries/track/fleet-lines.ts";
import { type Column, jsonColumns } from "../../encode/json-columns.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { bbox } from "../../parameters/common.ts";
import { numberParameter } from "../../parameters/kinds.ts";
import { instants, readInstants } from "../../parameters/ranges.ts";
import { incomplete } from "../../shapes/history.ts";
import { EXAMPLE_REPORT, field } from "../../shapes/record-schemas.ts";
import { always, amount, count, object, optional, plain, text } from "../../shapes/shape.ts";

const DAYS_MAX = 7;
/** An answer takes some 15 MB until the client has all of it; three times as much with 250,000 devices. */
const ANSWERS_MAX = 8;

const TOO_MANY: ServiceError = {
  kind: "unavailable",
  message: "too many answers with tracks are under way; ask again later",
  retryAfterSeconds: 2,
};

const column = (name: "timestamp" | "latitude" | "longitude") =>
  plain<readonly number[]>({ type: "array", items: field(name).schema, maxItems: VERTICES_MAX });

const indexes = (description: string) =>
  plain<readonly number[]>({ type: "array", items: { type: "integer", minimum: 0 }, description });

const answer = object({
  success: always(true),
  app_id: text("Application of the key."),
  total: count("Records in the range, including omitted ones."),
  tolerance_meters: amount(
    "The maximum distance of a record from the line at the time of the record. May be greater than requested to limit the number of positions.",
  ),
  incomplete: optional(incomplete),
  device_id: plain<readonly string[]>({
    type: "array",
    items: field("device_id").schema,
    maxItems: DEVICES_MAX,
    description: "Devices with records, in the order of ids.",
  }),
  first: indexes("The index of each device's first position."),
  gaps: indexes("Indexes of positions to which no line leads from the device's position before."),
  timestamp: column("timestamp"),
  latitude: column("latitude"),
  longitude: column("longitude"),
});

export const appTracks = queryEndpoint({
  operationId: "getAppTracks",
  tag: "App",
  summary: "Lines through the positions of all devices of the app",
  description: [
    "For time lapses: the positions of the range in columns, by device, then time. A position is omitted if it is within the",
    "tolerance of where a device would be at that time that moves evenly from one remaining position to the next. The first",
    "and the last position of each line stay. At most 500,000: if there would be more, the tolerance doubles. There is no",
    "line over more than 10 minutes without a record, nor where a device would have been faster than 400 m/s. At most 7",
    "days and 250,000 devices.",
  ].join(" "),
  path: "/api/v1/tracks",
  inPath: {},
  query: {
    ...instants,
    tolerance_meters: numberParameter(
      "number",
      {
        description: "Maximum distance of records from the line at their time, in meters.",
        minimum: 0,
        maximum: 100_000,
      },
      50,
    ),
    bbox: bbox("Only positions in this box; lines are cut where they leave it."),
  },
  wrongQuery: "start=yesterday",
  answer: {
    name: "AppTracks",
    description: "The lines.",
    shape: answer,
    example: {
      success: true,
      app_id: "default",
      total: 5,
      tolerance_meters: 50,
      device_id: [EXAMPLE_REPORT.device_id, "van-8"],
      first: [0, 3],
      gaps: [2],
      timestamp: [1_773_964_800_000, 1_773_964_860_000, 1_773_968_400_000, 1_773_964_805_000],
      latitude: [53.4, 53.401, 53.41, 53.38],
      longitude: [-2.9, -2.901, -2.91, -2.95],
    },
  },
  versionOf: ({ versions }, { appId }) => versions.ofRecords(appId),
  open({ findFleetTracks }) {
    const pool = new SharedPool(ANSWERS_MAX);
    return async (call, { start, end, tolerance_meters: toleranceMeters, bbox: box }) => {
      const range = readInstants({ start, end }, DAYS_MAX);
      if (!range.ok) return call.fail(range.error);
      const query = { range: range.value, toleranceMeters, box };
      const { appId, keyId } = call;
      if (!pool.take({ appId, keyId }, 1)) return call.fail(TOO_MANY);
      const share = new Share(() => pool.give({ appId, keyId }, 1));
      try {
        const result = await findFleetTracks(appId, query, call.request);
        if (result.ok) return await call.pieces(share.until(bodyOf(appId, result.value)));
        share.end();
        return call.fail(result.error);
      } catch (error) {
        share.end();
        throw error;
      }
    };
  },
});

function bodyOf(
  appId: AppId,
  { value, isIncomplete }: RangeAnswer<FleetTracks>,
): Iterable<Uint8Array<ArrayBuffer>> {
  const members = {
    success: true,
    app_id: appId,
    total: value.total,
    tolerance_meters: value.toleranceMeters,
    ...(isIncomplete ? { incomplete: true } : {}),
  };
  return jsonColumns(members, columnsOf(value));
}

/** A share of a pool, given back once. */
class Share {
  #giveBack: (() => void) | null;

  constructor(giveBack: () => void) {
    this.#giveBack = giveBack;
  }

  end(): void {
    this.#giveBack?.();
    this.#giveBack = null;
  }

  /** The body, at whose end the share ends, whether or not all of it was read. */
  *until<Piece>(body: Iterable<Piece>): Generator<Piece, void, void> {
    try {
      yield* body;
    } finally {
      this.end();
    }
  }
}

function columnsOf({ deviceIds, first, gaps, timestampMs, latitude, longitude }: FleetTracks): Column[] {
  return [
    { name: "device_id", blocks: [deviceIds] },
    { name: "first", blocks: [first] },
    { name: "gaps", blocks: [gaps] },
    { name: "timestamp", blocks: [timestampMs] },
    { name: "latitude", blocks: [latitude] },
    { name: "longitude", blocks: [longitude] },
  ];
}
