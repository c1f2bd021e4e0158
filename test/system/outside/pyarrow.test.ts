import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeArchiveApps } from "../../support/archive-app.ts";
import { begun, bytesOf } from "../../unit/service/export/export-of.ts";
import { createFilledApp, wellKnownPoint } from "../../unit/service/export/filled-app.ts";

/** Goal: other programs read the Parquet that we export. */

afterAll(removeArchiveApps);

/** `WHEREHOUSE_PYTHON` names another than `python3`. */
const PYTHON = Bun.which(process.env.WHEREHOUSE_PYTHON ?? "python3");
const hasPyArrow = PYTHON !== null && Bun.spawnSync([PYTHON, "-c", "import pyarrow.parquet"]).exitCode === 0;
if (!hasPyArrow) console.warn("Left out: Parquet as pyarrow reads it, since python3 has no such package.");

/** The ids, the points in well-known binary, and what the file says of them. */
const READ = `
import json, sys
import pyarrow.parquet as parquet
table = parquet.read_table(sys.argv[1]).sort_by([("timestamp", "ascending"), ("device_id", "ascending")])
print(json.dumps({
  "ids": table.column("device_id").to_pylist(),
  "points": [point.hex() for point in table.column("geometry").to_pylist()],
  "geo": json.loads(table.schema.metadata[b"geo"]),
}))`;

test.if(hasPyArrow)("pyarrow reads the records, and what GeoParquet says of their points", async () => {
  const app = await createFilledApp();
  const path = join(app.dataDir, "for-pyarrow.parquet");
  const query = { format: "parquet", range: { startMs: 0, endMs: 2 ** 52 } } as const;
  writeFileSync(path, await bytesOf(await begun(app.directory.exports, query)));
  const { stdout, stderr } = Bun.spawnSync([PYTHON!, "-c", READ, path]);
  expect(stderr.toString()).toBe("");
  const { ids, points, geo } = JSON.parse(stdout.toString());
  expect(ids).toEqual(["a", "b", "a", "a", "\u{1F68C}"]);
  expect(points.at(-1)).toBe(wellKnownPoint(180, -90));
  expect(geo).toMatchObject({
    primary_column: "geometry",
    columns: { geometry: { encoding: "WKB", geometry_types: ["Point"] } },
  });
  await app.close();
});
