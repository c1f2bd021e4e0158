import { REFUSAL_REASONS, type ValueFault } from "../../clients/point.ts";
import { REPORT_FIELDS } from "../../model/location-fields.ts";
import { NumberColumn } from "./columns.ts";
import type { LeftOutField, RefusedFor, RefusedReport } from "./ingested-reports.ts";

const REASONS: readonly RefusedFor[] = [...REFUSAL_REASONS, "invalid"];
const FIELDS = REPORT_FIELDS.map(({ name }) => name);
const FAULTS: readonly ValueFault[] = ["absent", "unreadable", "out_of_range"];
/** At this many points all counts are halved, so that a fixed problem is forgotten. */
const POINTS_MAX = 400;

/** The outcomes of a device's last few hundred points. */
export class Outcomes {
  /** Points with any outcome. */
  readonly #points = new NumberColumn();
  readonly #duplicates = new NumberColumn();
  readonly #refused = REASONS.map(() => new NumberColumn());
  /** Points refused for a value, by the fault of the value. */
  readonly #faulty = FAULTS.map(() => new NumberColumn());
  /** Accepted points of which a value was omitted, by the fault of the value. */
  readonly #lacking = FAULTS.map(() => new NumberColumn());
  /** The field that was omitted last, by its index among all fields, from 1. */
  readonly #lackedField = new NumberColumn();
  readonly #timedByArrival = new NumberColumn();

  /** Adds accepted points; `duplicates` of them changed nothing, if that is known. */
  noteAccepted(slot: number, points: number, duplicates: number): void {
    add(this.#duplicates, slot, duplicates);
    this.#count(slot, points);
  }

  noteRefused(slot: number, { reason, fault }: Pick<RefusedReport, "reason" | "fault">): void {
    add(this.#refused[REASONS.indexOf(reason)]!, slot, 1);
    if (fault !== null) add(this.#faulty[FAULTS.indexOf(fault)]!, slot, 1);
    this.#count(slot, 1);
  }

  /** Notes that a field was omitted from points that are already counted. */
  noteLeftOut(slot: number, { field, fault }: LeftOutField, points: number): void {
    add(this.#lacking[FAULTS.indexOf(fault)]!, slot, points);
    this.#lackedField.set(slot, FIELDS.indexOf(field) + 1);
  }

  /** Notes that points that are already counted have the time of their arrival. */
  noteTimedByArrival(slot: number, points: number): void {
    add(this.#timedByArrival, slot, points);
  }

  timedByArrival(slot: number): number {
    return this.#timedByArrival.get(slot);
  }

  /** Points of which values were omitted, and the last omitted field; null if there are none. */
  lacking(slot: number): Lacking | null {
    const field = FIELDS[this.#lackedField.get(slot) - 1];
    if (field === undefined) return null;
    const [, unreadable = 0, outOfRange = 0] = this.#lacking.map((column) => column.get(slot));
    return { field, unreadable, outOfRange };
  }

  /** The most frequent fault of values that points were refused for; null if there are none. */
  mainFault(slot: number): ValueFault | null {
    const counts = this.#faulty.map((column) => column.get(slot));
    const most = Math.max(...counts);
    return most === 0 ? null : FAULTS[counts.indexOf(most)]!;
  }

  /** All points in the counts. */
  points(slot: number): number {
    return this.#points.get(slot);
  }

  refused(slot: number): number {
    return this.#refused.reduce((sum, column) => sum + column.get(slot), 0);
  }

  duplicates(slot: number): number {
    return this.#duplicates.get(slot);
  }

  /** The most frequent reason for refusals. The slot must have a refused point. */
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

/** Points of which a value was omitted. */
export interface Lacking {
  readonly field: string;
  readonly unreadable: number;
  readonly outOfRange: number;
}

function add(column: NumberColumn, slot: number, amount: number): void {
  column.set(slot, column.get(slot) + amount);
}
