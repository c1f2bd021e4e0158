import { expect, test } from "bun:test";
import { type AllRecords, recordStatement } from "../../../../src/archive/read/all-records.ts";
import { LATE_TABLE } from "../../../../src/archive/read/late-tables.ts";
import type { DeviceAlias } from "../../../../src/model/device-alias.ts";
import type { AppId, DeviceId, UserId } from "../../../../src/model/ids.ts";
import * as fc from "../../../support/fast-check.ts";

/**
 * Goal: a statement can be run whatever it reads. DuckDB refuses one that does not name all values that are bound, or
 * names others.
 */

const id = (text: string) => text as DeviceId;
const optional = <Value>(value: Value) => fc.constantFrom(null, value);

const alias: DeviceAlias = { deviceId: id("b"), shownId: id("a"), userId: null, rank: 1, via: [id("a")] };

const request: fc.Arbitrary<AllRecords> = fc.record({
  appId: fc.constant("fleet" as AppId),
  range: fc.constant({ startMs: 0, endMs: 1 }),
  order: fc.constantFrom("time", "device"),
  deviceIds: fc.constantFrom(null, [id("a")], [id("a"), id("b")]),
  afterDeviceId: optional(id("a")),
  lastDeviceId: optional(id("b")),
  behind: optional({ deviceId: "a", timestampMs: 0 }),
  userId: optional("u" as UserId),
  paths: fc.constantFrom([], ["part.parquet"]),
  hasOldFiles: fc.boolean(),
  late: fc.constantFrom(null, { rows: LATE_TABLE, fixes: null }, { rows: LATE_TABLE, fixes: "fixes" }),
  hidden: optional("hidden"),
  mask: optional({ maskDevices: ["a"], maskUsers: [""], maskStarts: ["0"], maskEnds: ["1"] }),
  aliases: fc.constantFrom([], [alias]),
  isSorted: fc.boolean(),
});

test("a statement names the values that are bound to it, and no others", () => {
  fc.assert(
    fc.property(request, (all) => {
      const { sql, values } = recordStatement(all);
      const names = new Set([...sql.matchAll(/\$([A-Za-z]\w*)/g)].map(([, name]) => name));
      expect([...names].sort()).toEqual(Object.keys(values).sort());
    }),
    { numRuns: 5000 },
  );
});
