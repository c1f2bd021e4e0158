/** Picks from a source of numbers from 0 to below 1. */
export interface Picker {
  /** A whole number from `minimum` to `maximum`, both included. */
  integer(minimum: number, maximum: number): number;
  /** A number in between with at most so many decimals. */
  decimal(minimum: number, maximum: number, decimals: number): number;
  item<Item>(items: readonly Item[]): Item;
  /** What `make` makes, with this probability. */
  maybe<Value>(probability: number, make: () => Value): Value | undefined;
}

export function createPicker(random: () => number): Picker {
  const integer = (minimum: number, maximum: number) =>
    minimum + Math.floor(random() * (maximum - minimum + 1));
  return {
    integer,
    decimal: (minimum, maximum, decimals) =>
      Number((minimum + random() * (maximum - minimum)).toFixed(decimals)),
    item: (items) => items[integer(0, items.length - 1)]!,
    maybe: (probability, make) => (random() < probability ? make() : undefined),
  };
}

/** The members that have a value. */
export function given<Members extends object>(
  members: { [Name in keyof Members]: Members[Name] | undefined },
) {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Members;
}
