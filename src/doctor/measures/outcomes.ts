import { REFUSAL_REASONS } from "../../clients/refusal.ts";
import type { RefusedFor } from "../taken-reports.ts";
import { NumberColumn } from "./columns.ts";

const REASONS: readonly RefusedFor[] = [...REFUSAL_REASONS, "invalid"];
/** From so many points on all counts are halved, so that what was wrong and was mended is forgotten. */
const POINTS_MAX = 400;

/** What became of a device's last few hundred points. */
export class Outcomes {
  /** Points of every outcome. */
  readonly #points = new NumberColumn();
  readonly #duplicates = new NumberColumn();
  readonly #refused = REASONS.map(() => new NumberColumn());

  /** Of so many points that were understood, so many changed nothing, as far as that is known. */
  noteTaken(slot: number, points: number, duplicates: number): void {
    add(this.#duplicates, slot, duplicates);
    this.#count(slot, points);
  }

  noteRefused(slot: number, reason: RefusedFor): void {
    add(this.#refused[REASONS.indexOf(reason)]!, slot, 1);
    this.#count(slot, 1);
  }

  /** All that are remembered. */
  points(slot: number): number {
    return this.#points.get(slot);
  }

  refused(slot: number): number {
    return this.#refused.reduce((sum, column) => sum + column.get(slot), 0);
  }

  duplicates(slot: number): number {
    return this.#duplicates.get(slot);
  }

  /** Why most of those were refused that were; of a slot of which any were. */
  mainReason(slot: number): RefusedFor {
    const counts = this.#refused.map((column) => column.get(slot));
    return REASONS[counts.indexOf(Math.max(...counts))]!;
  }

  clear(slot: number): void {
    for (const column of this.#all()) column.set(slot, 0);
  }

  #count(slot: number, points: number): void {
    add(this.#points, slot, points);
    if (this.#points.get(slot) <= POINTS_MAX) return;
    for (const column of this.#all()) column.set(slot, column.get(slot) / 2);
  }

  #all(): readonly NumberColumn[] {
    return [this.#points, this.#duplicates, ...this.#refused];
  }
}

function add(column: NumberColumn, slot: number, amount: number): void {
  column.set(slot, column.get(slot) + amount);
}
