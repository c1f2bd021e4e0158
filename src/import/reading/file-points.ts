import { storedId } from "../../clients/identity.ts";
import { deviceNameOf } from "../../formats/device-file-name.ts";
import type { FileDetails, FilePoint, PointSink, Remark, SkipReason } from "../../formats/read/file-point.ts";
import { isOnEarth } from "../../model/geo/box.ts";
import {
  NUMBER_FIELDS,
  numberIndex,
  PROFILE_FIELDS,
  profileIndex,
  STATE_FIELDS,
} from "../../model/location-fields.ts";
import { textFault } from "../../model/report.ts";
import { NOT_CARRIED, type ReportBatchBuilder } from "../../model/report-batch.ts";
import { GPS_ROLLOVER_MS, MS_PER_DAY } from "../../model/time/units.ts";
import { type BatchQueue, countOne } from "./batch-queue.ts";
import { type ImportRules, isWanted, type Moment } from "./import-rules.ts";

/** An earlier time comes from a receiver that has not set its clock, or whose week number has rolled over. */
const YEAR_2000_MS = Date.UTC(2000, 0, 1);
/** Reports can't have earlier times, because they look like seconds; such a clock was never set. */
const CLOCK_SET_MS = 100_000_000_000;

/**
 * Checks the points of files of any format, and writes the good ones straight into the columns of batches. An invalid
 * detail is omitted and counted; a point with an invalid position is skipped.
 */
export class FilePoints implements PointSink {
  readonly #queue: BatchQueue;
  readonly #rules: ImportRules;
  readonly #moment: () => Moment;
  readonly #fileName: string;
  /** The byte or line of the present point in its file. */
  readonly #place: () => number;
  readonly #devices = new NamesAsIds();
  readonly #users = new NamesAsIds();
  readonly #last = new LastPoints();
  /** The builder of the open batch. */
  #builder: ReportBatchBuilder | null = null;
  #now: Moment;
  #device = { id: "", text: NOT_CARRIED };
  #user = { id: "", text: NOT_CARRIED };
  /** Remarks on the next point. */
  readonly #remarks: Remark[] = [];

  constructor(
    queue: BatchQueue,
    rules: ImportRules,
    moment: () => Moment,
    fileName: string,
    place: () => number,
  ) {
    this.#queue = queue;
    this.#rules = rules;
    this.#moment = moment;
    this.#now = moment();
    this.#fileName = fileName;
    this.#place = place;
  }

  add(point: FilePoint): void {
    const isNew = this.#queue.next();
    const reason = this.#take(point, isNew);
    if (reason !== null && isNew) {
      const isUnreadable = reason === "bad_coordinates" && Number.isNaN(point.latitude! + point.longitude!);
      this.#queue.skip(reason, this.#place(), isUnreadable ? UNREADABLE_COORDINATES : null);
    }
    if (this.#remarks.length > 0) this.#remarks.length = 0;
  }

  skip(reason: SkipReason): void {
    if (this.#queue.next()) this.#queue.skip(reason, this.#place(), null);
    this.#remarks.length = 0;
  }

  note(remark: Remark): void {
    this.#remarks.push(remark);
  }

  /** Adds a new point to the batch, or returns why it can't. */
  #take(point: FilePoint, isNew: boolean): SkipReason | null {
    const { latitude, longitude } = point;
    if (latitude === null || longitude === null) return "no_position";
    if (!isOnEarth(latitude, longitude)) return "bad_coordinates";
    if (latitude === 0 && longitude === 0 && point.isRecord !== true) return "null_island";
    if (point.timestampMs === null) return "no_time";
    if (Number.isNaN(point.timestampMs)) return "bad_time";
    const timestampMs = Math.trunc(point.timestampMs) + this.#now.shiftMs;
    if (timestampMs < CLOCK_SET_MS) return "early_time";
    if (!isWanted(this.#rules, timestampMs)) return "out_of_range";
    if (timestampMs < this.#now.times.oldestMs) return "too_old";
    if (timestampMs > this.#now.times.newestMs) return "future";
    const deviceId = this.#rules.deviceId ?? this.#devices.idOf(point.device ?? this.#fileName);
    if (deviceId === null) return "bad_device";
    const remark = this.#compareWithLast(deviceId, timestampMs, latitude, longitude);
    if (!isNew) return null;
    if (remark !== null) this.#remarks.push(remark);
    for (const each of this.#remarks) countOne(this.#queue.open.remarks, each);
    this.#append(point, deviceId, timestampMs);
    return null;
  }

  /** Compares a point with the last one of its device, and remembers it as the last one. */
  #compareWithLast(
    deviceId: string,
    timestampMs: number,
    latitude: number,
    longitude: number,
  ): Remark | null {
    const last = this.#last.find(deviceId);
    if (last === null) {
      this.#last.keep(deviceId, { timestampMs, latitude, longitude });
      return timestampMs < YEAR_2000_MS ? "suspicious_time" : null;
    }
    const stepMs = timestampMs - last.timestampMs;
    last.timestampMs = timestampMs;
    last.latitude = latitude;
    last.longitude = longitude;
    this.#last.keep(deviceId, last);
    if (stepMs === 0) return null;
    const isRollover = Math.abs(Math.abs(stepMs) - GPS_ROLLOVER_MS) <= MS_PER_DAY;
    return isRollover || timestampMs < YEAR_2000_MS ? "suspicious_time" : null;
  }

  #append(point: FilePoint, deviceId: string, timestampMs: number): void {
    const { builder, places } = this.#queue.open;
    if (builder !== this.#builder) this.#use(builder);
    builder.begin();
    builder.numbers[LATITUDE] = point.latitude! + 0; // -0 becomes 0, as in reports.
    builder.numbers[LONGITUDE] = point.longitude! + 0;
    this.#fillNumbers(point.details, builder);
    this.#fillTexts(point.details, builder);
    if (point.unreadable !== undefined)
      for (const name of point.unreadable) countOne(this.#queue.open.unreadable, name);
    builder.profile[USER_MEMBER] = this.#userText(point.user, builder);
    if (deviceId !== this.#device.id) this.#device = { id: deviceId, text: builder.text(deviceId) };
    places[builder.count] = this.#place();
    builder.add(this.#device.text, timestampMs);
  }

  /** From now on texts are interned in this batch. */
  #use(builder: ReportBatchBuilder): void {
    this.#builder = builder;
    this.#now = this.#moment();
    this.#device = { id: "", text: NOT_CARRIED };
    this.#user = { id: "", text: NOT_CARRIED };
  }

  #userText(name: string | null, builder: ReportBatchBuilder): number {
    const userId = this.#rules.userId ?? (name === null ? null : this.#users.idOf(name));
    if (userId === null) {
      if (name !== null) countOne(this.#queue.open.unreadable, "user_id");
      return NOT_CARRIED;
    }
    if (userId !== this.#user.id) this.#user = { id: userId, text: builder.text(userId) };
    return this.#user.text;
  }

  #fillNumbers(details: FileDetails, { numbers }: ReportBatchBuilder): void {
    for (let n = 0; n < NUMBER_DETAILS.length; n++) {
      const { name, column, minimum, maximum } = NUMBER_DETAILS[n]!;
      const value = details[name];
      if (value === undefined) continue;
      if (value >= minimum && value <= maximum) numbers[column] = value + 0;
      else countOne(Number.isNaN(value) ? this.#queue.open.unreadable : this.#queue.open.leftOut, name);
    }
  }

  #fillTexts(details: FileDetails, builder: ReportBatchBuilder): void {
    for (let t = 0; t < TEXT_DETAILS.length; t++) {
      const { name, field, isProfile, member } = TEXT_DETAILS[t]!;
      const value = details[name];
      if (value === undefined) continue;
      const text = String(value); // Booleans are the texts `true` and `false`.
      const known = builder.find(text);
      const tuple = isProfile ? builder.profile : builder.state;
      // A text that is valid in one open field is valid in all of them.
      if (known !== NOT_CARRIED && field.pattern === undefined) tuple[member] = known;
      else if (field.type === "boolean" || textFault(field, text) === null)
        tuple[member] = builder.text(text);
      else countOne(this.#queue.open.leftOut, name);
    }
  }
}

/** Coordinates outside the Earth are counted apart. */
const UNREADABLE_COORDINATES = "with coordinates that can't be read";

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");
const USER_MEMBER = profileIndex("user_id");

type NumberDetail = NonNullable<
  {
    [Name in keyof FileDetails]: FileDetails[Name] extends number | undefined ? Name : never;
  }[keyof FileDetails]
>;
type TextDetail = Exclude<keyof FileDetails, NumberDetail>;

const NUMBER_DETAILS = NUMBER_FIELDS.flatMap(({ name, required, minimum, maximum }, column) =>
  required === true ? [] : [{ name: name as NumberDetail, column, minimum: minimum!, maximum: maximum! }],
);

/** All except the user, which is not a detail. */
const TEXT_DETAILS = [
  ...PROFILE_FIELDS.map((field, member) => ({ field, isProfile: true, member })),
  ...STATE_FIELDS.map((field, member) => ({ field, isProfile: false, member })),
].flatMap((each) =>
  each.field.name === "user_id" ? [] : [{ ...each, name: each.field.name as TextDetail }],
);

/** The last point of a device in its file. */
interface LastPoint {
  timestampMs: number;
  latitude: number;
  longitude: number;
}

/** Files of more devices jump between them so often that the last point says little. */
const DEVICES_MAX = 10_000;

/**
 * The last point of each recent device of a file. There are two generations; when the newer is full, the older is
 * dropped, so that a file with ever new devices needs bounded memory.
 */
class LastPoints {
  #newer = new Map<string, LastPoint>();
  #older = new Map<string, LastPoint>();
  #deviceId = "";
  #last: LastPoint | null = null; // A cache for `#deviceId`, because most points follow one of the same device.

  /** The last point of the device, to be overwritten with the present one; null if none is known. */
  find(deviceId: string): LastPoint | null {
    if (deviceId === this.#deviceId) return this.#last;
    return this.#newer.get(deviceId) ?? this.#older.get(deviceId) ?? null;
  }

  keep(deviceId: string, point: LastPoint): void {
    if (deviceId === this.#deviceId) return; // `find` returned its point, which was overwritten.
    this.#deviceId = deviceId;
    this.#last = point;
    if (this.#newer.size >= DEVICES_MAX) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(deviceId, point);
  }
}

/** Extensions of archives and compressed files. */
const PACKED_EXTENSION = /\.(?:gz|zst|zip|kmz)$/i;
const EXTENSION = /\.[a-z0-9]{1,12}$/i;

/** The device name for a file that names none: `ride` for `ride.gpx.gz`, the name under which `export` writes it. */
export function baseName(fileName: string): string {
  return deviceNameOf(fileName.replace(PACKED_EXTENSION, "").replace(EXTENSION, ""));
}

/** Turns names into ids, and caches the last, because most points of a file are of one device. */
class NamesAsIds {
  #name = "";
  #id: string | null = null;

  /** Null if the name can't be an id. */
  idOf(name: string): string | null {
    if (name !== this.#name) {
      this.#name = name;
      this.#id = storedId(name);
    }
    return this.#id;
  }
}
