import { tmpdir } from "node:os";
import { openDatabase } from "../../../src/archive/duckdb/database.ts";

/*
 * The program with a statement of DuckDB under way that goes on for hours and that nobody interrupts.
 */
const LONG =
  "SELECT count(*)::DOUBLE FROM range(10000000) a, range(1000000) b WHERE (a.range * b.range) % 7 = 3";
const database = await openDatabase({
  threads: 1,
  memoryBytes: 100_000_000,
  directories: [tmpdir()],
  spillDirectory: null,
  cachesFiles: false,
});
void (await database.connect()).run(LONG);
await import("../../../src/main.ts");
