import type { AppId, DeviceId } from "../../model/ids.ts";
import type { NewestRecords } from "../../model/newest-records.ts";
import type { RecordPage } from "../../model/record-page.ts";
import type { Dictionary } from "../records/dictionary.ts";
import { PageBuilder } from "../scan/page-builder.ts";
import type { AppDevices } from "./app-devices.ts";
import { DeviceNotes } from "./device-notes.ts";

/** An app's newest records, as answers read them. */
export class NewestOfApp implements NewestRecords {
  readonly appId: AppId;
  readonly #app: AppDevices;
  readonly #notes = new DeviceNotes();
  readonly #page: PageBuilder;

  constructor(app: AppDevices, dictionary: Dictionary) {
    this.appId = app.appId;
    this.#app = app;
    this.#page = new PageBuilder(1, dictionary);
  }

  deviceId(device: number): DeviceId {
    return this.#app.byNumber(device).id;
  }

  pageOf(device: number): RecordPage {
    this.#page.clear();
    this.#page.addNewest(this.#app, this.#app.byNumber(device));
    return this.#page.build();
  }

  notes(): Float64Array {
    return this.#notes.upTo(this.#app.deviceNumbers);
  }

  /** The device's newest record is another now, or is gone. */
  changed(device: number): void {
    this.#notes.drop(device);
  }
}
