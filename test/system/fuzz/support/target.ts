/** A decoder under attack. Every input is bytes; what they mean is the target's own. */
export interface Target {
  readonly name: string;
  /** Larger inputs are cut. */
  readonly bytesMax: number;
  /** Inputs to begin with, such as what a program wrote. */
  seeds(): readonly Uint8Array[];
  /** Decodes what the input stands for, and throws where anything does not hold that should. */
  check(input: Uint8Array): void | Promise<void>;
}

/** Throws where a fact does not hold; `detail` is made only then. */
export function must(holds: boolean, fact: string, detail: () => unknown = () => ""): asserts holds {
  if (!holds) throw new Error(`${fact} ${show(detail())}`.trimEnd());
}

export function mustEqual(actual: unknown, expected: unknown, fact: string): void {
  if (!isSame(actual, expected)) throw new Error(`${fact}: ${show(actual)} is not ${show(expected)}`);
}

/** Deep equality of what decoders give: numbers by `Object.is` but for the sign of zero, typed arrays by item. */
export function isSame(a: unknown, b: unknown): boolean {
  if (typeof a === "number" && typeof b === "number") return a === b || (Number.isNaN(a) && Number.isNaN(b));
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (ArrayBuffer.isView(a) && ArrayBuffer.isView(b)) return isSame([...itemsOf(a)], [...itemsOf(b)]);
  if (a instanceof Map && b instanceof Map) return isSame([...a], [...b]);
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && isSame(memberOf(a, name), memberOf(b, name)));
}

function itemsOf(view: ArrayBufferView): Iterable<number> {
  return view as unknown as Iterable<number>;
}

function memberOf(value: object, name: string): unknown {
  return (value as Record<string, unknown>)[name];
}

const SHOWN_MAX = 400;

function show(value: unknown): string {
  if (typeof value === "string") return value.slice(0, SHOWN_MAX);
  const text = JSON.stringify(value, (_, item) => (item instanceof Map ? [...item] : item)) ?? String(value);
  return text.slice(0, SHOWN_MAX);
}
