import { NUMBER_FIELDS } from "../../model/location-fields.ts";
import type { RecordColumns } from "../../model/record-columns.ts";

/** Records that are collected row by row. */
export class RecordRows {
  readonly deviceIds: string[] = [];
  readonly timestampMs: number[] = [];
  readonly #numbers: readonly number[][] = NUMBER_FIELDS.map(() => []);
  readonly #profiles: string[] = [];
  readonly #states: string[] = [];

  get count(): number {
    return this.timestampMs.length;
  }

  add({ deviceIds, timestampMs, numbers, profiles, states }: RecordColumns, row: number): void {
    this.deviceIds.push(deviceIds[row]!);
    this.timestampMs.push(timestampMs[row]!);
    for (let field = 0; field < numbers.length; field++) this.#numbers[field]!.push(numbers[field]![row]!);
    this.#profiles.push(profiles[row]!);
    this.#states.push(states[row]!);
  }

  addFrom(other: RecordRows, row: number): void {
    this.deviceIds.push(other.deviceIds[row]!);
    this.timestampMs.push(other.timestampMs[row]!);
    for (const [field, column] of this.#numbers.entries()) column.push(other.#numbers[field]![row]!);
    this.#profiles.push(other.#profiles[row]!);
    this.#states.push(other.#states[row]!);
  }

  /** Removes all rows except one. */
  keepOnly(row: number): void {
    for (const column of this.#columns()) column.splice(0, column.length, column[row]!);
  }

  clear(): void {
    for (const column of this.#columns()) column.length = 0;
  }

  columns(): RecordColumns {
    return {
      count: this.count,
      deviceIds: this.deviceIds,
      timestampMs: Float64Array.from(this.timestampMs),
      numbers: this.#numbers.map((column) => Float64Array.from(column)),
      profiles: this.#profiles,
      states: this.#states,
    };
  }

  #columns(): readonly (string | number)[][] {
    return [this.deviceIds, this.timestampMs, ...this.#numbers, this.#profiles, this.#states];
  }
}
