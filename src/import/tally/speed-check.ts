import { numberIndex } from "../../model/location-fields.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import { unitVerdict } from "../../service/doctor/diagnoses.ts";
import { SpeedRatios } from "../../service/doctor/speed-ratios.ts";

/** A device whose speeds have the wrong unit. */
export interface WrongSpeeds {
  readonly device: string;
  /** The unit of the file, such as `km/h`, and the unit that it was taken for. */
  readonly actualUnit: string;
  readonly assumedUnit: string;
  /** The value for `--speed-unit`. */
  readonly speedUnit: string;
  /** The median ratio of the file's speeds to those computed from positions. */
  readonly ratio: number;
}

/** Devices whose speeds are checked, about 500 bytes each. In one file mostly all devices are wrong together. */
const DEVICES_MAX = 1000;

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");
const ACCURACY = numberIndex("horizontal_accuracy");
const SPEED = numberIndex("speed");

/** Compares a file's speeds with those computed from its positions, as the doctor does with reports of phones. */
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
      const { actualUnit, assumedUnit, speedUnit } = verdict;
      return [{ device, actualUnit, assumedUnit, speedUnit, ratio }];
    });
  }

  /** Null if there are too many devices. */
  #slotOf(device: string): number | null {
    const known = this.#slots.get(device);
    if (known !== undefined) return known;
    if (this.#slots.size >= DEVICES_MAX) return null;
    const slot = this.#slots.size;
    this.#slots.set(device, slot);
    return slot;
  }
}
