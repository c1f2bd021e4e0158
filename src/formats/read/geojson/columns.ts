import { type Members, membersOf } from "../../../clients/reading/values.ts";
import { ALIASES } from "./properties.ts";

/** Values of points, with the name that a Point alone would have them under; of those of a name the last counts. */
export type Columns = readonly (readonly [name: string, values: readonly unknown[]])[];

/** What lists of values are called, besides the name of one: plurals, and togeojson's `coordTimes`. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ...Object.entries(ALIASES).flatMap(([kind, names]) => {
    const isShared = kind === "device" || kind === "user";
    return isShared ? [] : names.flatMap((name) => spellingsOf(name).map((each) => [each, name] as const));
  }),
  ["coordTimes", "time"],
]);

function spellingsOf(name: string): readonly string[] {
  return [name, `${name}s`, name.replace(/y$/, "ies")];
}

/** The lists that run beside a Feature's coordinates. */
export function columnsOf(properties: Members): Columns {
  return [properties, membersOf(properties.coordinateProperties)].flatMap((source) =>
    Object.entries(source).flatMap(([spelling, values]) => {
      const name = NAMES.get(spelling);
      return name !== undefined && Array.isArray(values) ? [[name, values] as const] : [];
    }),
  );
}

/** Of several lines' those of the line at an index. */
export function columnsOfLine(columns: Columns, index: number): Columns {
  return columns.flatMap(([name, lines]) => {
    const values = lines[index];
    return Array.isArray(values) ? [[name, values] as const] : [];
  });
}
