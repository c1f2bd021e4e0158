import { FixedOffsetZone, Zone as LuxonZone } from "luxon";
import type { Zone } from "./zone.ts";

/** Our zone as luxon sees zones, so that luxon reckons with the pinned table instead of the runtime's ICU. */
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

  /** The table's abbreviations stay packed, nobody shows them: the offset names itself. */
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
