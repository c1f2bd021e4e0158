import { FixedOffsetZone, Zone as LuxonZone } from "luxon";
import type { Zone } from "../../src/model/time/zone.ts";

/** Makes a luxon zone of one of ours, so that luxon can check our calendar with the pinned table's offsets. */
export function createLuxonZone(zone: Zone): LuxonZone {
  return new TableZone(zone);
}

class TableZone extends LuxonZone {
  readonly #zone: Zone;

  constructor(zone: Zone) {
    super();
    this.#zone = zone;
  }

  override get type() {
    return "table";
  }

  override get name() {
    return this.#zone.name;
  }

  override get isUniversal() {
    return this.#zone.offsetSpanAt(0).endMs === Infinity;
  }

  override get isValid() {
    return true as const;
  }

  override offset(timestampMs: number) {
    return this.#zone.offsetMinutesAt(timestampMs);
  }

  /** The table has no abbreviations, so this returns the offset. */
  override offsetName(timestampMs: number) {
    return this.formatOffset(timestampMs, "short");
  }

  override formatOffset(timestampMs: number, format: "narrow" | "short" | "techie") {
    return FixedOffsetZone.instance(this.offset(timestampMs)).formatOffset(timestampMs, format);
  }

  override equals(other: LuxonZone) {
    return other instanceof TableZone && other.name === this.name;
  }
}
