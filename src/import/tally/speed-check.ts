import { numberIndex } from "../../model/location-fields.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import { unitVerdict } from "../../service/doctor/diagnoses.ts";
import { SpeedRatios } from "../../service/doctor/speed-ratios.ts";

/** What is wrong with the speeds of a device, in words. */
export interface WrongSpeeds {
  readonly device: string;
  /** Such as `km/h`, and what they were taken for. */
  readonly sent: string;
  readonly takenFor: string;
  /** The one that `--speed-unit` takes. */
  readonly speedUnit: string;
  /** How many times the speed that positions tell the file has, by the median. */
  readonly ratio: number;
}

/** Devices whose speeds are looked at, some 500 bytes each. Those of one file are mostly wrong together. */
const DEVICES_MAX = 1000;

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");
const ACCURACY = numberIndex("horizontal_accuracy");
const SPEED = numberIndex("speed");

/** Compares the speeds of a file with those that its positions tell, as the doctor does with what phones send. */
export class SpeedCheck {
  readonly #ratios = new SpeedRatios();
  readonly #slots = new Map<string, number>();

  add({ count, timestampMs, numbers, device, texts }: ReportBatch): void {
    const speed = numbers[SPEED]!;
    const fix = { timestampMs: 0, latitude: 0, longitude: 0, accuracyMeters: 0, speed: 0 };
    let lastDevice = -1;
    let slot: number | null = null;
    for (let row = 0; row < count; row++) {
      if (device[row] !== lastDevice) {
        lastDevice = device[row]!;
        slot = this.#slotOf(texts[lastDevice]!);
      }
      if (slot === null) continue;
      fix.timestampMs = timestampMs[row]!;
      fix.latitude = numbers[LATITUDE]![row]!;
      fix.longitude = numbers[LONGITUDE]![row]!;
      fix.accuracyMeters = numbers[ACCURACY]![row]!;
      fix.speed = speed[row]!;
      this.#ratios.note(slot, fix);
    }
  }

  verdicts(): WrongSpeeds[] {
    return [...this.#slots].flatMap(([device, slot]) => {
      const ratio = this.#ratios.median(slot);
      const verdict = ratio === null ? null : unitVerdict(ratio);
      if (ratio === null || verdict === null) return [];
      const { sent, takenFor, speedUnit } = verdict;
      return [{ device, sent, takenFor, speedUnit, ratio }];
    });
  }

  /** Null for a device that is one too many. */
  #slotOf(device: string): number | null {
    const known = this.#slots.get(device);
    if (known !== undefined) return known;
    if (this.#slots.size >= DEVICES_MAX) return null;
    const slot = this.#slots.size;
    this.#slots.set(device, slot);
    return slot;
  }
}
