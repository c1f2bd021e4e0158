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
import type { AppBlocks } from "../../../directory/erasure-ledger.ts";
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
  /** By the client's claim, its key or its path. */
  readonly deviceId: string | null;
  /** A message of this point alone; undefined for the whole message. */
  readonly raw: unknown;
  /** The point's index in the message, from 0. */
  readonly index: number;
  /** The value that can't be used; null if the reason is another. */
  readonly fault: FieldFault | null;
}

/** A value that is missing in a report, and why. */
export interface FieldFault {
  /** The field's name in a report. */
  readonly field: string;
  readonly fault: ValueFault;
}

/** An optional field that was omitted, and how often. */
export interface LeftOut extends FieldFault {
  readonly count: number;
}

/** The rules for points. */
export interface PointContext {
  readonly sender: Sender;
  readonly address: Address;
  readonly client: Pick<Client, "name" | "mustNameDevice">;
  readonly arrivedMs: number;
  /** Later than the arrival if the message is replayed. */
  readonly nowMs: number;
  /** The edge of the retention. */
  readonly oldestMs: number;
  /** Devices and users that were erased, whose points are refused; null if there are none. */
  readonly blocks: AppBlocks | null;
}

/**
 * Makes reports from a message's points. An invalid optional field is omitted and counted; an invalid position is
 * refused, and the other points are stored.
 */
export class PointCollector implements MessageSink {
  readonly refused: RefusedPoint[] = [];
  /** Contents other than positions, by kind. */
  readonly skipped = new Map<string, number>();
  /** Points that got the time of their arrival because they have none. */
  timedByArrival = 0;
  /** Times that were corrected by 1024 weeks. */
  rolledOver = 0;
  readonly #context: PointContext;
  /** Whether the last identity is blocked. */
  #isBlocked = false;
  readonly #leftOut: { field: string; fault: ValueFault; count: number }[] = [];
  readonly #reports = new ReportBatches();
  #lastClaim: Claim | null = null;
  #lastIdentity: Identity | null = null;
  #count = 0;

  constructor(context: PointContext) {
    this.#context = context;
  }

  /** Whether the reader recognised nothing in the message. */
  get isEmpty(): boolean {
    return this.#count === 0 && this.skipped.size === 0;
  }

  /** Optional fields that were omitted because of their values. */
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
    const refusal = this.#isBlocked ? ERASED : this.#take(point, identity);
    if (refusal !== null) this.#refuse(refusal, identity, raw);
  }

  refuse(reason: RefusalReason, raw?: unknown, from: Claim = NO_CLAIM): void {
    const identity = this.#identify(from);
    this.#refuse(this.#isBlocked ? ERASED : { reason, fault: null }, identity, raw);
  }

  skip(what: string): void {
    countOne(this.skipped, what);
  }

  /** Caches the last identity: most messages are of one device, and checking a long name takes a while. */
  #identify(claim: Claim): Identity | null {
    const last = this.#lastClaim;
    const isSame =
      claim.device === last?.device &&
      claim.user === last.user &&
      claim.driver === last.driver &&
      claim.isDeviceUnreadable === last.isDeviceUnreadable;
    if (!isSame) {
      const { sender, address, client } = this.#context;
      const identity = identify(sender, address, client, claim);
      const { blocks } = this.#context;
      this.#isBlocked =
        blocks !== null && identity !== null && blocks.isBlocked(identity.deviceId, identity.userId);
      this.#lastIdentity = identity;
      this.#lastClaim = claim;
    }
    return this.#lastIdentity;
  }

  /** Makes a report from the point, or returns why it can't. */
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

  /** The time of the fix in Unix ms, or why it is invalid. */
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

  /** Omits invalid fields: an optional field never costs a position. */
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

  /** Counts an omitted field; there are few, so a list suffices. */
  #leaveOut(field: string, fault: ValueFault): void {
    const known = this.#leftOut.find((one) => one.field === field && one.fault === fault);
    if (known === undefined) this.#leftOut.push({ field, fault, count: 1 });
    else known.count++;
  }
}

/** Why a point is refused, and the invalid value, if there is one. */
type Refusal = Pick<RefusedPoint, "reason" | "fault">;

/** Why a report can't have a value. */
function faultOf(value: number | null): ValueFault {
  if (value === null) return "absent";
  return Number.isNaN(value) ? "unreadable" : "out_of_range";
}

/** The fault of coordinates that are not on Earth. */
function coordinateFault(latitude: number | null, longitude: number | null): FieldFault {
  const isLatitude = latitude === null || !isOnEarth(latitude, 0);
  return isLatitude
    ? { field: "latitude", fault: faultOf(latitude) }
    : { field: "longitude", fault: faultOf(longitude) };
}

function countOne(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** Whatever else is wrong with the point. */
const ERASED: Refusal = { reason: "erased", fault: null };

const NO_CLAIM = { device: null, user: null };

/** The rules for clients have checked the times already. */
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
