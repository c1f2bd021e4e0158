import { isJsonObject, type JsonObject } from "../../../clients/reading/values.ts";
import { readBeginning } from "../beginning.ts";
import type { PointSink } from "../file-point.ts";
import type { Beginning, Format, ReadOptions } from "../format.ts";
import { firstThings, readCuts } from "../json/read-json.ts";
import { createTableTimes } from "../time/patterned-times.ts";
import { findMeaning, normalName } from "./column-names.ts";
import { type ColumnPlan, planColumns } from "./column-plan.ts";
import { parseCellNumber, type RowRules, readRowPoint, type TableRow } from "./row-points.ts";

/** Names of the list in the outermost object. */
const LISTS = ["locations", "points", "positions", "records", "data", "items", "results", "rows", "track"];

/** Tables in JSON: lists of objects with column names as members. */
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
      selection: { isList: true, lists: LISTS },
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

/** Cached sets of members; programs write a few, since they leave out unknown values. */
const PLANS_MAX = 256;

/** Reads objects as rows, each by its own members. */
class JsonRows {
  readonly #sink: PointSink;
  readonly #mapped: ReadonlyMap<string, string>;
  readonly #rules: RowRules;
  /** Members of the first objects. */
  #expected: readonly string[] = [];
  readonly #plans = new Map<string, { readonly names: readonly string[]; readonly plan: ColumnPlan }>();

  constructor(sink: PointSink, options: ReadOptions) {
    this.#sink = sink;
    this.#mapped = options.columns;
    const { readMs } = createTableTimes(options, sink);
    this.#rules = { readMs, speedUnit: "mps", givenSpeedUnit: options.speedUnit };
  }

  /** Throws a `HeaderError` if the first objects have no time or position. */
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

  /** A missing member counts as an empty cell, unless the object has the same field under another name. */
  #planOf(present: readonly string[]) {
    const fields = new Set(present.map((name) => findMeaning(name)?.field));
    const mappedNames = new Set([...this.#mapped.values()].map(normalName));
    const lacking = this.#expected.filter((name) => {
      const isNeeded = !fields.has(findMeaning(name)?.field) || mappedNames.has(normalName(name));
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
