import { isJsonObject, type JsonObject } from "../../../clients/reading/values.ts";
import { readBeginning } from "../beginning.ts";
import type { PointSink } from "../file-point.ts";
import type { Beginning, Format, ReadOptions } from "../format.ts";
import { firstThings, readCuts } from "../json/read-json.ts";
import { createTableTimes } from "../time/patterned-times.ts";
import { findMeaning, normalName } from "./column-names.ts";
import { type ColumnPlan, planColumns } from "./column-plan.ts";
import { parseCellNumber, type RowRules, readRowPoint, type TableRow } from "./row-points.ts";

/** What programs call the list in the object around it. */
const LISTS = ["locations", "points", "positions", "records", "data", "items", "results", "rows", "track"];

/** Tables in JSON: lists of objects whose members are called as columns are. */
export const jsonTable: Format = {
  name: "json",
  title: "JSON table",
  extensions: [".json"],
  placeUnit: "byte",
  recognise(beginning) {
    const row = firstRows(beginning).find(saysWhere);
    return row === undefined
      ? null
      : `a list of objects with ${Object.keys(row).filter(findMeaning).join(", ")}`;
  },
  read(content, sink, options) {
    const rows = new JsonRows(sink, options);
    return readCuts(content, sink, {
      wanted: { isList: true, lists: LISTS },
      async prepare() {
        rows.expect(firstRows(await readBeginning(content)));
      },
      read({ value }) {
        if (isJsonObject(value)) rows.read(value);
        else sink.skip("unreadable");
        return [];
      },
    });
  },
};

function firstRows(beginning: Beginning): readonly JsonObject[] {
  return [null, ...LISTS].flatMap((list) => firstThings(beginning, list));
}

function saysWhere(row: JsonObject): boolean {
  const fields = Object.keys(row).map((name) => findMeaning(name)?.field);
  return fields.includes("latitude") && fields.includes("longitude");
}

/** Sets of members that are remembered; programs write a few, where they leave out what they don't know. */
const PLANS_MAX = 256;

/** Reads objects as rows, each by the members that it has. */
class JsonRows {
  readonly #sink: PointSink;
  readonly #mapped: ReadonlyMap<string, string>;
  readonly #rules: RowRules;
  /** What the first objects have. */
  #expected: readonly string[] = [];
  readonly #plans = new Map<string, { readonly names: readonly string[]; readonly plan: ColumnPlan }>();

  constructor(sink: PointSink, options: ReadOptions) {
    this.#sink = sink;
    this.#mapped = options.columns;
    const { readMs } = createTableTimes(options, sink);
    this.#rules = { readMs, speedUnit: "mps", saidSpeedUnit: options.speedUnit };
  }

  /** Throws a `HeaderError` where the first objects don't tell where and when. */
  expect(first: readonly JsonObject[]): void {
    this.#expected = [...new Set(first.flatMap(Object.keys))];
    planColumns(this.#expected, this.#mapped);
  }

  read(members: JsonObject): void {
    const present = Object.keys(members).filter((name) => (members[name] ?? null) !== null);
    const key = JSON.stringify(present);
    const known = this.#plans.get(key) ?? this.#planOf(present);
    if (this.#plans.size < PLANS_MAX) this.#plans.set(key, known);
    this.#sink.add(readRowPoint(rowOf(members, known.names), known.plan, this.#rules));
  }

  /** What an object lacks counts as an empty cell, unless it says the same under another name. */
  #planOf(present: readonly string[]) {
    const fields = new Set(present.map((name) => findMeaning(name)?.field));
    const said = new Set([...this.#mapped.values()].map(normalName));
    const lacking = this.#expected.filter((name) => {
      const isNeeded = !fields.has(findMeaning(name)?.field) || said.has(normalName(name));
      return isNeeded && !present.includes(name);
    });
    const names = [...present, ...lacking];
    return { names, plan: planColumns(names, this.#mapped) };
  }
}

function rowOf(members: JsonObject, names: readonly string[]): TableRow {
  const valueAt = (column: number) => members[names[column]!] ?? null;
  const textAt = (column: number) => {
    const value = valueAt(column);
    if (value === null || typeof value === "object") return value === null ? null : undefined;
    return String(value) || null;
  };
  return {
    numberAt(column) {
      const value = valueAt(column);
      if (value === null || typeof value === "number") return value;
      if (typeof value !== "string") return Number.NaN;
      return value.trim() === "" ? null : parseCellNumber(value, false);
    },
    textAt,
    timeAt: valueAt,
  };
}
