import type { SpeedUnit } from "../../../clients/reading/speed.ts";
import { REPORT_FIELDS } from "../../../model/location-fields.ts";
import { HeaderError } from "../format.ts";
import { COLUMN_NAMES, type ColumnMeaning, findMeaning, normalName } from "./column-names.ts";

/** The columns of a table that make its points, by index from 0. */
export interface ColumnPlan {
  readonly timestamp: number;
  /** The column of the date, if `timestamp` has the time of day alone. */
  readonly date: number | null;
  readonly latitude: number;
  readonly longitude: number;
  /** Whether the columns' names say that degrees are in units of 1e-7. */
  readonly isE7: boolean;
  readonly device: NameColumn | null;
  readonly user: NameColumn | null;
  readonly details: readonly DetailColumn[];
}

export interface NameColumn {
  readonly index: number;
  /** Whether the column has our name: then blanks in its values count. */
  readonly isOurs: boolean;
}

export interface DetailColumn {
  readonly index: number;
  readonly field: string;
  readonly type: "number" | "boolean" | "string";
  /** A smaller number means "unknown". */
  readonly minimum: number;
  readonly isSpeed: boolean;
  readonly speedUnit: SpeedUnit | null;
  /** Whether a charge may be a fraction. */
  readonly isBattery: boolean;
}

interface NamedColumn {
  readonly index: number;
  readonly meaning: ColumnMeaning;
  /** The smallest rank of a field counts. */
  readonly rank: number;
}

/** Required fields of a point. */
const NEEDED = ["timestamp", "latitude", "longitude"] as const;

/** Fields that are not details. */
const KEY_FIELDS = new Set<string>([...NEEDED, "device_id", "user_id"]);

/** Columns that the operator mapped precede all recognised ones. */
const MAPPED_RANK = 1000;

/** `mapped` has column names by field name, given by the operator. Throws a `HeaderError`. */
export function planColumns(names: readonly string[], mapped: ReadonlyMap<string, string>): ColumnPlan {
  const columns = [...mappedColumns(names, mapped), ...knownColumns(names)];
  const find = (field: string) => bestOf(columns.filter(({ meaning }) => meaning.field === field));
  const [timestamp, latitude, longitude] = NEEDED.map(find);
  if (timestamp === undefined || latitude === undefined || longitude === undefined)
    throw unknownHeader(
      names,
      NEEDED.filter((field) => find(field) === undefined),
    );
  const isNamed = ({ meaning }: NamedColumn, name: string) => meaning.name === name;
  return {
    timestamp: timestamp.index,
    date: isNamed(timestamp, "time")
      ? (columns.find((column) => isNamed(column, "date"))?.index ?? null)
      : null,
    latitude: latitude.index,
    longitude: longitude.index,
    isE7: latitude.meaning.isE7 && longitude.meaning.isE7,
    device: nameColumn(find("device_id")),
    user: nameColumn(find("user_id")),
    details: REPORT_FIELDS.flatMap((field) => {
      const column = KEY_FIELDS.has(field.name) ? undefined : find(field.name);
      if (column === undefined) return [];
      const { index, meaning } = column;
      return {
        index,
        field: field.name,
        type: field.type === "integer" ? "number" : field.type,
        minimum: field.minimum ?? Number.NEGATIVE_INFINITY,
        isSpeed: field.name === "speed",
        speedUnit: meaning.speedUnit,
        isBattery: meaning.field === "battery_level" && meaning.name !== "battery_level",
      };
    }),
  };
}

function nameColumn(column: NamedColumn | undefined): NameColumn | null {
  return column === undefined
    ? null
    : { index: column.index, isOurs: column.meaning.name === column.meaning.field };
}

function bestOf(columns: readonly NamedColumn[]): NamedColumn | undefined {
  return columns.toSorted((a, b) => a.rank - b.rank)[0];
}

function knownColumns(names: readonly string[]): NamedColumn[] {
  return names.flatMap((name, index) => {
    const meaning = findMeaning(name);
    return meaning === null ? [] : { index, meaning, rank: meaning.rank };
  });
}

function mappedColumns(names: readonly string[], mapped: ReadonlyMap<string, string>): NamedColumn[] {
  return [...mapped].map(([ours, theirs]) => {
    const meaning = findMeaning(ours);
    if (meaning === null) throw new HeaderError(`"${ours}" is not a field of a report`);
    const index = names.findIndex((name) => normalName(name) === normalName(theirs));
    if (index < 0) throw new HeaderError(`no column is called "${theirs}"; the columns are ${quoted(names)}`);
    return { index, meaning, rank: meaning.rank - MAPPED_RANK };
  });
}

const QUOTED_NAMES_MAX = 40;

function unknownHeader(names: readonly string[], missing: readonly string[]): HeaderError {
  const known = missing.map((field) => `${field} (also ${COLUMN_NAMES[field]!.join(", ")})`);
  const example = missing.map((field) => `--map ${field}=COLUMN`).join(" ");
  return new HeaderError(
    `no column is known as ${known.join(" or ")}; the columns are ${quoted(names)}: name them with ${example}`,
  );
}

function quoted(names: readonly string[]): string {
  const quotedNames = names.slice(0, QUOTED_NAMES_MAX).map((name) => `"${name.slice(0, 64)}"`);
  if (names.length > QUOTED_NAMES_MAX) quotedNames.push(`${names.length - QUOTED_NAMES_MAX} more`);
  return quotedNames.join(", ");
}
