import type { SpeedUnit } from "../../../clients/reading/speed.ts";
import { normalName } from "../table/column-names.ts";

/** What is known of a program's tables that their columns' names don't say. */
export interface Dialect {
  /** As people know it; null for any other. */
  readonly program: string | null;
  /** Of speeds whose column doesn't say it. */
  readonly speedUnit: SpeedUnit;
  /** Whether quoted numbers may have decimal commas although commas separate them. */
  readonly quotesCommas: boolean;
  /** The column that says whether there was a fix. */
  readonly valid: number | null;
  /** The column whose commas are not quoted, so that a row may have more cells than the header. */
  readonly address: number | null;
}

const ANY: Dialect = { program: null, speedUnit: "mps", quotesCommas: false, valid: null, address: null };

/** The dialect of a table with columns of these names. */
export function dialectOf(columns: readonly string[]): Dialect {
  const names = columns.map(normalName);
  const hasAll = (...wanted: readonly string[]) => wanted.every((name) => names.includes(name));
  const indexOf = (name: string) => (names.includes(name) ? names.indexOf(name) : null);
  if (hasAll("servertime", "devicetime", "fixtime", "valid")) {
    const [valid, address] = [indexOf("valid"), indexOf("address")];
    return { ...ANY, program: "Traccar", speedUnit: "kn", valid, address };
  }
  if (hasAll("source_type", "velocity")) return { ...ANY, program: "GeoPulse", speedUnit: "kmh" };
  if (hasAll("timestamp_ms", "satellites", "provider"))
    return { ...ANY, program: "GPSLogger", quotesCommas: true };
  return ANY;
}
