import type { AppId, DeviceId } from "../../model/ids.ts";
import type { NewestRecords } from "../../model/newest-records.ts";
import type { RecordPage } from "../../model/record-page.ts";
import type { Device } from "../devices/device.ts";
import type { DeviceTable } from "../devices/device-table.ts";
import type { SealedRows } from "../devices/sealed-rows.ts";
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
    return this.#table.byNumber(device).id;
  }

  pageOf(number: number): RecordPage {
    const device = this.#table.byNumber(number);
    const { chunk, row } = this.#sealed.newest(device);
    this.#page.clear();
    this.#page.add(device, chunk, row);
    return this.#page.build();
  }

  /** The newest records of these devices, on a page of their own. */
  pageOfDevices(devices: readonly Device[]): RecordPage {
    const page = new PageBuilder(devices.length, this.#dictionary);
    for (const device of devices) {
      const { chunk, row } = this.#sealed.newest(device);
      page.add(device, chunk, row);
    }
    return page.build();
  }

  notes(): Float64Array {
    return this.#notes.upTo(this.#table.numbersEnd);
  }

  /** The device's newest record is another now, or is gone. */
  changed(device: number): void {
    this.#notes.drop(device);
  }
}
