import { assert } from "../../lib/assert.ts";
import { grown } from "../../lib/tables/columns.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import { NUMBER_FIELDS } from "../../model/location-fields.ts";
import type { NewestRecords } from "../../model/newest-records.ts";
import type { RecordDictionary, RecordPage } from "../../model/record-page.ts";
import type { ArchivedRows } from "../devices/archived-rows.ts";
import { type DeviceTable, NO_DEVICE } from "../devices/device-table.ts";
import { copyNumbers, profileAt, stateAt, timestampAt } from "../records/chunk.ts";
import type { Dictionary } from "../records/dictionary.ts";
import type { RowRef } from "../records/long-track.ts";
import { PageBuilder } from "./page-builder.ts";

/** The newest record of each device of an app, in memory or archived, for encoding answers. */
export class NewestOfApp implements NewestRecords {
  readonly appId: AppId;
  readonly #table: DeviceTable;
  readonly #archivedRows: ArchivedRows;
  readonly #dictionary: Dictionary;
  /** The arrays that `notes()` and `positionNotes()` return, by device number; as long as was needed so far. */
  #notes = new Float64Array(0);
  #positionNotes = new Float64Array(0);
  readonly #page: RecordOfDevice;

  constructor(appId: AppId, table: DeviceTable, archivedRows: ArchivedRows, dictionary: Dictionary) {
    this.appId = appId;
    this.#table = table;
    this.#archivedRows = archivedRows;
    this.#dictionary = dictionary;
    this.#page = new RecordOfDevice(table, dictionary.edition);
  }

  deviceId(device: number): DeviceId {
    return this.#table.idOf(device);
  }

  pageOf(number: number): RecordPage {
    this.#page.set(number, this.#archivedRows.newest(number), this.#dictionary.edition);
    return this.#page;
  }

  prefetch(devices: Uint32Array, count: number): void {
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const { chunk, row } = this.#archivedRows.newest(devices[i]!);
      sum += timestampAt(chunk, row) + profileAt(chunk, row);
    }
    assert(!Number.isNaN(sum), "every record has a time"); // Keeps compilers from removing the sum.
  }

  /** The newest records of these devices, copied. */
  pageOfDevices(devices: readonly number[]): RecordPage {
    const page = new PageBuilder(devices.length, this.#dictionary);
    for (const number of devices) {
      const device = this.#table.byNumber(number);
      const { chunk, row } = this.#archivedRows.newest(number);
      page.add(device, chunk, row);
    }
    return page.build();
  }

  notes(): Float64Array {
    const { numbersEnd } = this.#table;
    if (numbersEnd > this.#notes.length) this.#notes = grown(this.#notes, numbersEnd);
    return this.#notes;
  }

  positionNotes(): Float64Array {
    const { numbersEnd } = this.#table;
    if (numbersEnd > this.#positionNotes.length) this.#positionNotes = grown(this.#positionNotes, numbersEnd);
    return this.#positionNotes;
  }

  /** Marks that the device's newest record changed. */
  changed(device: number): void {
    negate(this.#notes, device);
    negate(this.#positionNotes, device);
  }

  /** Removes the device, whose number another may get. */
  removed(device: number): void {
    if (device < this.#notes.length) this.#notes[device] = 0;
    if (device < this.#positionNotes.length) this.#positionNotes[device] = 0;
  }
}

function negate(notes: Float64Array, device: number): void {
  if (device < notes.length) notes[device] = -Math.abs(notes[device]!);
}

/** A page of one record. The device's id becomes a string only if it is read, which is seldom. */
class RecordOfDevice implements RecordPage {
  readonly count = 1;
  readonly timestampMs = new Float64Array(1);
  readonly numbers = new Float64Array(NUMBER_FIELDS.length);
  readonly profile = new Uint32Array(1);
  readonly state = new Uint32Array(1);
  dictionary: RecordDictionary;
  readonly #table: DeviceTable;
  #device = NO_DEVICE;

  constructor(table: DeviceTable, dictionary: RecordDictionary) {
    this.#table = table;
    this.dictionary = dictionary;
  }

  get deviceIds(): readonly DeviceId[] {
    return [this.#table.idOf(this.#device)];
  }

  set(device: number, { chunk, row }: RowRef, dictionary: RecordDictionary): void {
    this.#device = device;
    this.dictionary = dictionary;
    this.timestampMs[0] = timestampAt(chunk, row);
    this.profile[0] = profileAt(chunk, row);
    this.state[0] = stateAt(chunk, row);
    copyNumbers(chunk, row, this.numbers, 0);
  }
}
