import fc from "fast-check";
import { real } from "./crowded-places.ts";

/** Values that careless handling of texts, numbers or zones would change. */

const NASTY_TEXTS = [
  "a",
  "10",
  "9",
  'q"uo\\te/',
  "ä",
  "e\u0301",
  "\uFF21",
  "\u{1F68C}",
  "\u{1F469}\u200D\u2708\uFE0F",
  "\u2028line\u2029",
  "\u200Fעברית\u202Eabc",
  "__proto__",
  "constructor",
  "%41+&=?#",
  " b ",
  "\uFEFFbom",
  "\uFFFD\uFFFF",
  "<b>\u00a0</b>",
  "\u{1F68C}".repeat(128),
] as const;

// Control characters are invalid, and URLs treat dots as folders.
const isTaken = (text: string) => !/[\u0000-\u001f\u007f-\u009f]/.test(text) && !/^\.{0,2}$/.test(text);

export const storyId = fc.oneof(
  fc.constantFrom(...NASTY_TEXTS),
  fc.string({ unit: "binary", minLength: 1, maxLength: 30 }).filter(isTaken),
);

/** A field that is sometimes missing or null. */
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { freq: 4 });

const text = maybe(
  fc.oneof(fc.constantFrom("", ...NASTY_TEXTS), fc.constantFrom("MOVING", "Not Charging", "15")),
);
const flag = maybe(fc.boolean());

const number = (min: number, max: number) =>
  maybe(
    fc.oneof(
      fc
        .constantFrom(0, -0, 1e-7, 5e-324, 4.8, 0.1 + 0.2, 123456.789012, 1234567.12345678, -0.5, -1e-7, 1e-6)
        .filter((value) => value >= min && value <= max),
      fc.constantFrom(min, max),
      real(min, max),
      fc.integer({ min: 0, max: 40_000 }).map((step) => Math.min(max, step / 100)),
    ),
  );

/** One city, both ends of the antimeridian, and the poles. */
export const storyPlace = fc.oneof(
  fc.constantFrom(
    { latitude: 0, longitude: 0 },
    { latitude: -0, longitude: -180 },
    { latitude: 0, longitude: 180 },
    { latitude: 0.001, longitude: 179.9999 },
    { latitude: 90, longitude: 77 },
    { latitude: 89.999, longitude: -120 },
    { latitude: -90, longitude: 0 },
    { latitude: 42.35, longitude: -71.05 },
    { latitude: 42.350000000000001, longitude: -71.04999999999998 },
  ),
  fc.record({ latitude: real(42.3, 42.4), longitude: real(-71.1, -71) }),
);

/** All fields but device, user and time. */
export const storyFields = fc
  .tuple(
    storyPlace,
    fc.record(
      {
        horizontal_accuracy: number(0, 10_000_000),
        vertical_accuracy: number(0, 10_000_000),
        altitude: number(-20_000, 100_000_000),
        speed: number(0, 1_000_000),
        bearing: number(0, 360),
        battery_level: number(0, 100),
        type: text,
        battery_status: text,
        network_status: flag,
        location_permission: flag,
        is_mock: flag,
        tracking_mode: text,
        tz_offset: maybe(fc.constantFrom("+0", "-0330", "3600", "+123456")),
        brand: text,
        model: text,
        os: text,
        os_version: text,
        sdk_version: text,
        app_version_name: text,
        app_version_code: text,
      },
      { requiredKeys: [] },
    ),
  )
  .map(([place, fields]) => ({ ...place, ...fields }));

/** A change that makes any report invalid. */
export const storyFault = fc.constantFrom<Readonly<Record<string, unknown>>>(
  { device_id: "\ud83d" },
  { device_id: "x\udc00" },
  { device_id: "" },
  { device_id: "\u007f" },
  { device_id: "a\u0000" },
  { device_id: "\u{1F68C}".repeat(129) },
  { user_id: "\u0085" },
  { user_id: "" },
  { brand: "two\nlines" },
  { model: "\ud83d\ud83d" },
  { latitude: 90.00000000000001 },
  { longitude: null },
  { bearing: -1e-7 },
  { speed: "1" },
  { is_mock: "true" },
  { timestamp: 1.5 },
);

/** Encodes reports as JSON, for `isOdd` with `-0`, exponents, and all characters escaped. */
export function spelledBody(reports: readonly unknown[], isOdd: boolean): string {
  return `{"locations":[${reports.map((report) => spelled(report, isOdd)).join(",")}]}`;
}

function spelled(value: unknown, isOdd: boolean): string {
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).map(([name, member]) => `"${name}":${spelled(member, isOdd)}`);
    return `{${members.join(" ,\n")}}`;
  }
  if (Object.is(value, -0)) return "-0";
  if (!isOdd) return JSON.stringify(value);
  if (typeof value === "number") return value.toExponential().replace("e", "E");
  if (typeof value === "string")
    return `"${Array.from({ length: value.length }, (_, at) => escaped(value, at)).join("")}"`;
  return JSON.stringify(value);
}

function escaped(text: string, at: number): string {
  return `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`;
}
