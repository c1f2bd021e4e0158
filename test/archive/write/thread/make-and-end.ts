/**
 * Encodes a batch and runs a statement on the thread that makes parts, for its test. Says what came of it, and ends by
 * itself though nothing is closed; or, told `ends`, ends the process while a statement runs.
 */
import { startPartThread } from "../../../../src/archive/write/thread/part-thread.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import { createReportBatchBuilder } from "../../../../src/model/report-batch.ts";
import { nicestThreads } from "../../../runtime/threads/nicest-threads.ts";

const notes: string[] = [];
const database = { memoryBytes: 100_000_000, directories: [], spillDirectory: null, cachesFiles: false };
const thread = await startPartThread({ database, onNote: (note) => notes.push(note) });
const builder = createReportBatchBuilder(1);
builder.begin();
builder.numbers[0] = 42.36;
builder.numbers[1] = -71.06;
builder.add(builder.text("bus"), 1_700_000_000_000);
const { signal } = new AbortController();
const lines = await thread.encoder.encode("app" as AppId, builder.build());
const connection = await thread.database.connect();
const rows = await connection.run("SELECT 7::DOUBLE", undefined, signal);
const said = { line: new TextDecoder().decode(lines), seven: rows.numbers(0)[0], notes };
console.log(JSON.stringify({ ...said, nicest: process.argv.includes("unseen") ? [] : nicestThreads() }));
if (process.argv.includes("ends")) {
  void connection.run("SELECT count(*)::DOUBLE FROM range(100000000000)", undefined, signal);
  setTimeout(() => process.exit(0), 100);
}
