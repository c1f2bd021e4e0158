import { assert } from "../../lib/assert.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import type { NewestRecords } from "../../model/newest-records.ts";
import type { RecordPage } from "../../model/record-page.ts";
import type { DeviceTable } from "../devices/device-table.ts";
import type { SealedRows } from "../devices/sealed-rows.ts";
import { profileAt, timestampAt } from "../records/chunk.ts";
import type { Dictionary } from "../records/dictionary.ts";
import { DeviceNotes } from "./device-notes.ts";
import { PageBuilder } from "./page-builder.ts";

/** An app's newest records, as answers read them. */
export class NewestOfApp implements NewestRecords {
  readonly appId: AppId;
  readonly #table: DeviceTable;
  readonly #sealed: SealedRows;
  readonly #dictionary: Dictionary;
  readonly #notes = new DeviceNotes();
  readonly #page: PageBuilder;

  constructor(appId: AppId, table: DeviceTable, sealed: SealedRows, dictionary: Dictionary) {
    this.appId = appId;
    this.#table = table;
    this.#sealed = sealed;
    this.#dictionary = dictionary;
    this.#page = new PageBuilder(1, dictionary);
  }

  deviceId(device: number): DeviceId {
    return this.#table.idOf(device);
  }

  pageOf(number: number): RecordPage {
    const device = this.#table.byNumber(number);
    const { chunk, row } = this.#sealed.newest(number);
    this.#page.clear();
    this.#page.add(device, chunk, row);
    return this.#page.build();
  }

  prefetch(devices: Uint32Array, count: number): void {
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const { chunk, row } = this.#sealed.newest(devices[i]!);
      sum += timestampAt(chunk, row) + profileAt(chunk, row);
    }
    assert(!Number.isNaN(sum), "every record has a time"); // Which keeps compilers from leaving the sum out.
  }

  /** The newest records of these devices, on a page of their own. */
  pageOfDevices(devices: readonly number[]): RecordPage {
    const page = new PageBuilder(devices.length, this.#dictionary);
    for (const number of devices) {
      const device = this.#table.byNumber(number);
      const { chunk, row } = this.#sealed.newest(number);
      page.add(device, chunk, row);
    }
    return page.build();
  }

  notes(): Float64Array {
    return this.#notes.upTo(this.#table.numbersEnd);
  }

  /** The device's newest record is another now. */
  changed(device: number): void {
    this.#notes.outdate(device);
  }

  /** The device is gone, and its number may become another's. */
  removed(device: number): void {
    this.#notes.drop(device);
  }
}
