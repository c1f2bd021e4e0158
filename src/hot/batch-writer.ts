import type { DeviceId } from "../model/ids.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import type { AppDevices } from "./app-devices.ts";
import type { Device } from "./devices/device.ts";
import type { DayLedger } from "./late/day-ledger.ts";
import type { CarriedTuples, RecordWriter } from "./record-writer.ts";
import type { Dictionary, TranslatedTuples } from "./records/dictionary.ts";

/** How a batch of reports gets into memory. */

/** What became of the batch's reports: new or changed records, and repeats that changed nothing. */
export interface AppliedBatch {
  readonly accepted: number;
  readonly duplicates: number;
}

/** Lays batches of reports over the records in memory. */
export class BatchWriter {
  readonly #dictionary: Dictionary;
  readonly #ledger: DayLedger;
  readonly #records: RecordWriter;

  constructor(dictionary: Dictionary, ledger: DayLedger, records: RecordWriter) {
    this.#dictionary = dictionary;
    this.#ledger = ledger;
    this.#records = records;
  }

  /** Lays the batch of an entry of the log over the app's records, in order, but for what the archive covers. */
  apply(app: AppDevices, batch: ReportBatch, sequence: number): AppliedBatch {
    const tuples = this.#dictionary.translate(batch);
    const devices: (Device | undefined)[] = new Array(batch.texts.length);
    const carried = { profile: 0, state: 0 };
    let accepted = 0;
    for (let row = 0; row < batch.count; row++) {
      const day = this.#ledger.at(batch.timestampMs[row]!);
      if (sequence <= day.sealedSequence) continue;
      const text = batch.device[row]!;
      let device = devices[text];
      if (device === undefined) {
        device = app.findOrAdd(batch.texts[text] as DeviceId);
        devices[text] = device;
      }
      readTuples(tuples, batch, row, carried);
      if (this.#records.write(app, device, day, batch, row, carried)) accepted++;
    }
    this.#dictionary.collect();
    return { accepted, duplicates: batch.count - accepted };
  }

  /** Whether the whole batch repeats what memory knows of the app. */
  repeats(app: AppDevices, batch: ReportBatch): boolean {
    for (let row = 0; row < batch.count; row++) {
      const device = app.find(batch.texts[batch.device[row]!]!);
      if (device === null || !this.#records.repeats(app, device, batch, row)) return false;
    }
    return true;
  }

  /** Takes in records as the newest sealed ones of their devices; where there are several of one, the newest. */
  restoreNewest(app: AppDevices, batch: ReportBatch): void {
    const tuples = this.#dictionary.translate(batch);
    const carried = { profile: 0, state: 0 };
    for (let row = 0; row < batch.count; row++) {
      const device = app.findOrAdd(batch.texts[batch.device[row]!] as DeviceId);
      if (batch.timestampMs[row]! < device.sealedNewestMs) continue;
      readTuples(tuples, batch, row, carried);
      this.#records.restoreNewest(app, device, batch, row, carried);
    }
    this.#dictionary.collect();
  }
}

function readTuples(tuples: TranslatedTuples, batch: ReportBatch, row: number, out: CarriedTuples): void {
  out.profile = tuples.profiles[batch.profile[row]!]!;
  out.state = tuples.states[batch.state[row]!]!;
}
