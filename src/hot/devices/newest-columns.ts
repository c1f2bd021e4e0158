import type { DeviceId } from "../../model/ids.ts";
import {
  NUMBER_FIELDS,
  numberIndex,
  PROFILE_FIELDS,
  STATE_FIELDS,
  type StoredField,
} from "../../model/location-fields.ts";
import type { AppDevices } from "../app-devices.ts";
import { type Chunk, numberAt, profileAt, stateAt, timestampAt } from "../records/chunk.ts";
import type { Dictionary } from "../records/dictionary.ts";

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");

/** Copies of the newest records of some devices, in columns. Later changes don't touch them. */
export interface NewestColumns {
  readonly deviceIds: readonly DeviceId[];
  /** Unix ms. */
  readonly timestampMs: Float64Array;
  /** Degrees. */
  readonly latitude: Float64Array;
  readonly longitude: Float64Array;
  /** The requested fields, in the requested order; NaN or null if a record lacks the field. */
  readonly fields: readonly FieldValues[];
}

export type FieldValues = Float64Array | readonly (string | boolean | null)[];

/** Copies the position, the time and some fields of the newest record of each device, by device number. */
export function copyNewest(
  app: AppDevices,
  dictionary: Dictionary,
  devices: readonly number[],
  fields: readonly StoredField[],
): NewestColumns {
  const count = devices.length;
  const columns = fields.map((field) => createColumn(field, count, dictionary));
  const deviceIds = new Array<DeviceId>(count);
  const timestampMs = new Float64Array(count);
  const latitude = new Float64Array(count);
  const longitude = new Float64Array(count);
  for (let at = 0; at < count; at++) {
    const device = app.table.byNumber(devices[at]!);
    const { chunk, row } = app.newest(device);
    deviceIds[at] = device.id;
    timestampMs[at] = timestampAt(chunk, row);
    latitude[at] = numberAt(chunk, row, LATITUDE);
    longitude[at] = numberAt(chunk, row, LONGITUDE);
    for (let column = 0; column < columns.length; column++) columns[column]!.copy(at, chunk, row);
  }
  return { deviceIds, timestampMs, latitude, longitude, fields: columns.map(({ values }) => values) };
}

interface Column {
  readonly values: FieldValues;
  copy(at: number, chunk: Chunk, row: number): void;
}

function createColumn(field: StoredField, count: number, { edition }: Dictionary): Column {
  if (field.column === "number") {
    const index = NUMBER_FIELDS.indexOf(field);
    const values = new Float64Array(count);
    return {
      values,
      copy(at, chunk, row) {
        values[at] = numberAt(chunk, row, index);
      },
    };
  }
  const values = new Array<string | boolean | null>(count);
  const shownAs = (text: string | null) =>
    field.type === "boolean" && text !== null ? text === "true" : text;
  const isProfile = field.column === "profile";
  const member = (isProfile ? PROFILE_FIELDS : STATE_FIELDS).indexOf(field);
  return {
    values,
    copy(at, chunk, row) {
      const text = isProfile
        ? edition.profileText(profileAt(chunk, row), member)
        : edition.stateText(stateAt(chunk, row), member);
      values[at] = shownAs(text);
    },
  };
}
