import type { Connection } from "../duckdb/database.ts";

/** How many devices have a newer record in the parts than in the checkpoint, or are not in it at all. */
export async function countUnlisted(
  connection: Connection,
  parts: readonly string[],
  checkpoint: readonly string[],
): Promise<number> {
  const newest = (files: string) =>
    `SELECT app_id, device_id, max(timestamp) AS newest FROM read_parquet(${files}, hive_partitioning = false)
     GROUP BY app_id, device_id`;
  const listed =
    checkpoint.length > 0
      ? newest("$checkpoint")
      : "SELECT NULL AS app_id, NULL AS device_id, 0 AS newest WHERE false";
  const rows = await connection.run(
    `SELECT count(*)::DOUBLE FROM (${newest("$parts")}) o LEFT JOIN (${listed}) n USING (app_id, device_id)
     WHERE n.newest IS NULL OR n.newest < o.newest`,
    { parts, ...(checkpoint.length > 0 ? { checkpoint } : {}) },
  );
  return rows.numbers(0)[0]!;
}
