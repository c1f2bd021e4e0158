import { NUMBER_FIELDS } from "../model/location-fields.ts";
import type { RecordPage } from "../model/record-page.ts";
import { type Chunk, copyNumbers, profileAt, stateAt, timestampAt } from "./chunk.ts";
import type { Device } from "./device.ts";
import type { Dictionary } from "./dictionary.ts";

/** A record in memory and the device it is of. Void once the device gets a report. */
export interface PlacedRow {
  readonly device: Device;
  readonly chunk: Chunk;
  readonly row: number;
}

/** The newest record of a device. */
export function newestRow(device: Device): PlacedRow {
  const { chunk, row } = device.track.newest();
  return { device, chunk, row };
}

/** Copies records out of the store, so that the page stays true whatever is reported next. */
export function copyRecords(rows: readonly PlacedRow[], dictionary: Dictionary): RecordPage {
  const width = NUMBER_FIELDS.length;
  const page = {
    count: rows.length,
    deviceIds: rows.map((placed) => placed.device.id),
    timestampMs: new Float64Array(rows.length),
    numbers: new Float64Array(rows.length * width),
    profile: new Uint32Array(rows.length),
    state: new Uint32Array(rows.length),
    dictionary,
  };
  for (let i = 0; i < rows.length; i++) {
    const { chunk, row } = rows[i]!;
    page.timestampMs[i] = timestampAt(chunk, row);
    page.profile[i] = profileAt(chunk, row);
    page.state[i] = stateAt(chunk, row);
    copyNumbers(chunk, row, page.numbers, i * width);
  }
  return page;
}
