import type { Client } from "../../../clients/client.ts";
import { type Address, type Identity, identify, type Sender } from "../../../clients/identity.ts";
import type {
  Claim,
  ClientPoint,
  MessageSink,
  PointDetails,
  RefusalReason,
  ValueFault,
} from "../../../clients/point.ts";
import { assert } from "../../../lib/assert.ts";
import { isOnEarth } from "../../../model/geo/box.ts";
import { NUMBER_FIELDS } from "../../../model/location-fields.ts";
import { addReport } from "../../../model/report.ts";
import type { ReportBatch } from "../../../model/report-batch.ts";
import { ReportBatches } from "../../../model/report-batches.ts";
import { FUTURE_MAX_MS } from "../../../model/time/retention.ts";
import { GPS_ROLLOVER_MS, MS_PER_DAY } from "../../../model/time/units.ts";

/** A point that can't be used, or the whole message. */
export interface RefusedPoint {
  readonly reason: RefusalReason;
  /** As the client claims, or as its key or path says. */
  readonly deviceId: string | null;
  /** A message of this point alone; undefined for the whole. */
  readonly raw: unknown;
  /** Which of the message's points it is, from 0. */
  readonly index: number;
  /** Which value of it can't be used, if it is one; null for the others. */
  readonly fault: FieldFault | null;
}

/** A value that is not in a report, and why. */
export interface FieldFault {
  /** The field, by its name in a report. */
  readonly field: string;
  readonly fault: ValueFault;
}

/** An optional field that was left out, and how often. */
export interface LeftOut extends FieldFault {
  readonly count: number;
}

/** What points are judged by. */
export interface PointContext {
  readonly sender: Sender;
  readonly address: Address;
  readonly client: Pick<Client, "name" | "mustNameDevice">;
  readonly arrivedMs: number;
  /** Later than the arrival where a message is tried again. */
  readonly nowMs: number;
  /** The edge of the retention. */
  readonly oldestMs: number;
}

/**
 * Makes reports of a message's points. An optional field that can't be is left out and counted; a position that can't
 * be is refused, and the points beside it are kept.
 */
export class PointCollector implements MessageSink {
  readonly refused: RefusedPoint[] = [];
  /** What was no position, by what it was. */
  readonly skipped = new Map<string, number>();
  /** Points whose time is that of their arrival, since they have none. */
  timedByArrival = 0;
  /** Times set right by 1024 weeks. */
  rolledOver = 0;
  readonly #context: PointContext;
  readonly #leftOut: { field: string; fault: ValueFault; count: number }[] = [];
  readonly #reports = new ReportBatches();
  #lastClaim: Claim | null = null;
  #lastIdentity: Identity | null = null;
  #count = 0;

  constructor(context: PointContext) {
    this.#context = context;
  }

  /** Whether the message held nothing that its reader knew. */
  get isEmpty(): boolean {
    return this.#count === 0 && this.skipped.size === 0;
  }

  /** Optional fields that were left out for their values. */
  get leftOut(): readonly LeftOut[] {
    return this.#leftOut;
  }

  /** Called once, after the last point. */
  batches(): readonly ReportBatch[] {
    this.#reports.end();
    return this.#reports.batches;
  }

  add(point: ClientPoint, raw: unknown): void {
    const identity = this.#identify(point);
    const refusal = this.#take(point, identity);
    if (refusal !== null) this.#refuse(refusal, identity, raw);
  }

  refuse(reason: RefusalReason, raw?: unknown, from: Claim = NOBODY): void {
    this.#refuse({ reason, fault: null }, this.#identify(from), raw);
  }

  skip(what: string): void {
    countOne(this.skipped, what);
  }

  /** The points of most messages are of one device, and a long name takes a while to be looked into. */
  #identify(claim: Claim): Identity | null {
    const last = this.#lastClaim;
    const isSame =
      claim.device === last?.device &&
      claim.user === last.user &&
      claim.driver === last.driver &&
      claim.isDeviceUnreadable === last.isDeviceUnreadable;
    if (!isSame) {
      const { sender, address, client } = this.#context;
      this.#lastIdentity = identify(sender, address, client, claim);
      this.#lastClaim = claim;
    }
    return this.#lastIdentity;
  }

  /** Makes a report of the point, or says why it can't be one. */
  #take(point: ClientPoint, identity: Identity | null): Refusal | null {
    const { latitude, longitude } = point;
    if (latitude === null || longitude === null || !isOnEarth(latitude, longitude))
      return { reason: "bad_coordinates", fault: coordinateFault(latitude, longitude) };
    if (latitude === 0 && longitude === 0) return { reason: "null_island", fault: null };
    const timestampMs = this.#judgeTime(point.timestampMs);
    if (typeof timestampMs !== "number") return timestampMs;
    if (identity === null) return { reason: "bad_device", fault: null };
    const { deviceId, userId } = identity;
    const details = this.#checked(point);
    const report = {
      ...details,
      device_id: deviceId,
      user_id: userId,
      timestamp: timestampMs,
      latitude,
      longitude,
    };
    const refusal = addReport(report, ANY_TIME, this.#reports.builder(0));
    assert(refusal === null, "a point that was checked is a report");
    if (point.isTimedByArrival === true) this.timedByArrival++;
    this.#count++;
    return null;
  }

  #refuse(refusal: Refusal, identity: Identity | null, raw: unknown): void {
    this.refused.push({ ...refusal, deviceId: identity?.deviceId ?? null, raw, index: this.#count++ });
  }

  /** The time of the fix in Unix ms, or why it can't be that. */
  #judgeTime(timestampMs: number | null): number | Refusal {
    if (timestampMs === null || !Number.isFinite(timestampMs))
      return { reason: "no_time", fault: { field: "timestamp", fault: faultOf(timestampMs) } };
    const { arrivedMs, nowMs, oldestMs } = this.#context;
    if (timestampMs > nowMs + FUTURE_MAX_MS) return { reason: "future", fault: null };
    const rolled = timestampMs + GPS_ROLLOVER_MS;
    if (rolled <= arrivedMs + FUTURE_MAX_MS && rolled >= arrivedMs - MS_PER_DAY) {
      this.rolledOver++;
      return rolled;
    }
    return timestampMs < oldestMs ? { reason: "too_old", fault: null } : timestampMs;
  }

  /** What a field may not be is left out: an optional one never costs a position. */
  #checked({ details, unreadable }: ClientPoint): PointDetails {
    for (const { name, minimum, maximum } of OPTIONAL_NUMBERS) {
      const value = details[name];
      if (value === undefined || (value >= minimum && value <= maximum)) continue;
      delete details[name];
      this.#leaveOut(name, faultOf(value));
    }
    if (unreadable !== undefined) for (const name of unreadable) this.#leaveOut(name, "unreadable");
    return details;
  }

  /** Of the few fields there are. */
  #leaveOut(field: string, fault: ValueFault): void {
    const known = this.#leftOut.find((one) => one.field === field && one.fault === fault);
    if (known === undefined) this.#leftOut.push({ field, fault, count: 1 });
    else known.count++;
  }
}

/** Why a point is refused, and which value is to blame, if one is. */
type Refusal = Pick<RefusedPoint, "reason" | "fault">;

/** Why a value is none that a report can have. */
function faultOf(value: number | null): ValueFault {
  if (value === null) return "absent";
  return Number.isNaN(value) ? "unreadable" : "out_of_range";
}

/** Of coordinates that are not on Earth. */
function coordinateFault(latitude: number | null, longitude: number | null): FieldFault {
  const isLatitude = latitude === null || !isOnEarth(latitude, 0);
  return isLatitude
    ? { field: "latitude", fault: faultOf(latitude) }
    : { field: "longitude", fault: faultOf(longitude) };
}

function countOne(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

const NOBODY = { device: null, user: null };

/** Times were judged by the rules for clients. */
const ANY_TIME = { oldestMs: Number.NEGATIVE_INFINITY, newestMs: Number.POSITIVE_INFINITY };

type NumberDetail =
  | "horizontal_accuracy"
  | "vertical_accuracy"
  | "altitude"
  | "speed"
  | "bearing"
  | "battery_level";

const OPTIONAL_NUMBERS = NUMBER_FIELDS.filter(({ required }) => required !== true).map(
  ({ name, minimum, maximum }) => ({ name: name as NumberDetail, minimum: minimum!, maximum: maximum! }),
);
