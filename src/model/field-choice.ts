import { LOCATION_FIELDS, type LocationField, type ResponseKind } from "./location-fields.ts";

/** In every choice: together they identify a record. */
export const ALWAYS_CHOSEN: readonly string[] = ["device_id", "timestamp"];

/**
 * The fields that the records of one answer show: all of their kind of response, or those that a request chose and
 * `ALWAYS_CHOSEN`.
 */
export class FieldChoice {
  readonly kind: ResponseKind;
  readonly isWhole: boolean;
  /** In the order of the table. */
  readonly names: readonly string[];
  /** Equal for equal choices of one kind. */
  readonly key: string;
  readonly #names: ReadonlySet<string>;

  /** `chosen` are names of fields of this kind of response, in any order; null for all. */
  constructor(kind: ResponseKind, chosen: readonly string[] | null = null) {
    const isChosen = (name: string) =>
      chosen === null || ALWAYS_CHOSEN.includes(name) || chosen.includes(name);
    this.kind = kind;
    this.names = fieldNamesOf(kind).filter(isChosen);
    this.isWhole = chosen === null;
    this.key = this.names.join();
    this.#names = new Set(this.names);
  }

  shows({ name }: Pick<LocationField, "name">): boolean {
    return this.#names.has(name);
  }
}

/** The names of all fields of a kind of response, in the order of the table. */
export function fieldNamesOf(kind: ResponseKind): readonly string[] {
  return LOCATION_FIELDS.filter(({ responses }: LocationField) => responses.includes(kind)).map(
    ({ name }) => name,
  );
}
