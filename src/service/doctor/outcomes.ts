import { REFUSAL_REASONS, type ValueFault } from "../../clients/point.ts";
import { REPORT_FIELDS } from "../../model/location-fields.ts";
import { NumberColumn } from "./columns.ts";
import type { LeftOutField, RefusedFor, RefusedReport } from "./taken-reports.ts";

const REASONS: readonly RefusedFor[] = [...REFUSAL_REASONS, "invalid"];
const FIELDS = REPORT_FIELDS.map(({ name }) => name);
const FAULTS: readonly ValueFault[] = ["absent", "unreadable", "out_of_range"];
/** From so many points on all counts are halved, so that what was wrong and was mended is forgotten. */
const POINTS_MAX = 400;

/** What became of a device's last few hundred points. */
export class Outcomes {
  /** Points of every outcome. */
  readonly #points = new NumberColumn();
  readonly #duplicates = new NumberColumn();
  readonly #refused = REASONS.map(() => new NumberColumn());
  /** Of the refused, those that were it for a value, by what was wrong with that. */
  readonly #faulty = FAULTS.map(() => new NumberColumn());
  /** Of those that were understood, those of which a value was left out, by why. */
  readonly #lacking = FAULTS.map(() => new NumberColumn());
  /** Which field was left out last, by its place among all, from 1. */
  readonly #lackedField = new NumberColumn();
  readonly #timedByArrival = new NumberColumn();

  /** Of so many points that were understood, so many changed nothing, as far as that is known. */
  noteTaken(slot: number, points: number, duplicates: number): void {
    add(this.#duplicates, slot, duplicates);
    this.#count(slot, points);
  }

  noteRefused(slot: number, { reason, fault }: Pick<RefusedReport, "reason" | "fault">): void {
    add(this.#refused[REASONS.indexOf(reason)]!, slot, 1);
    if (fault !== null) add(this.#faulty[FAULTS.indexOf(fault)]!, slot, 1);
    this.#count(slot, 1);
  }

  /** Of so many of its points, which were counted already, a field was left out. */
  noteLeftOut(slot: number, { field, fault }: LeftOutField, points: number): void {
    add(this.#lacking[FAULTS.indexOf(fault)]!, slot, points);
    this.#lackedField.set(slot, FIELDS.indexOf(field) + 1);
  }

  /** So many of its points, which were counted already, have the time of their arrival. */
  noteTimedByArrival(slot: number, points: number): void {
    add(this.#timedByArrival, slot, points);
  }

  timedByArrival(slot: number): number {
    return this.#timedByArrival.get(slot);
  }

  /** Of which points values were left out, and the field that was left out last; null where there were none. */
  lacking(slot: number): Lacking | null {
    const field = FIELDS[this.#lackedField.get(slot) - 1];
    if (field === undefined) return null;
    const [, unreadable = 0, outOfRange = 0] = this.#lacking.map((column) => column.get(slot));
    return { field, unreadable, outOfRange };
  }

  /** What was wrong with most of the values that points were refused for; null where none were. */
  mainFault(slot: number): ValueFault | null {
    const counts = this.#faulty.map((column) => column.get(slot));
    const most = Math.max(...counts);
    return most === 0 ? null : FAULTS[counts.indexOf(most)]!;
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
    this.#lackedField.set(slot, 0);
  }

  #count(slot: number, points: number): void {
    add(this.#points, slot, points);
    if (this.#points.get(slot) <= POINTS_MAX) return;
    for (const column of this.#all()) column.set(slot, column.get(slot) / 2);
  }

  #all(): readonly NumberColumn[] {
    const counts = [this.#points, this.#duplicates, this.#timedByArrival];
    return [...counts, ...this.#refused, ...this.#faulty, ...this.#lacking];
  }
}

/** Points of which a value was left out. */
export interface Lacking {
  readonly field: string;
  readonly unreadable: number;
  readonly outOfRange: number;
}

function add(column: NumberColumn, slot: number, amount: number): void {
  column.set(slot, column.get(slot) + amount);
}
