import { findHistory } from "./histories.ts";

/**
 * The control of an import, on either runtime: generates a history in memory, parses it, and prints the speed in MB/s.
 *
 * parse-history.ts FORMAT BYTES SEED
 */
const [format = "", bytes = "", seed = ""] = process.argv.slice(2);
const history = findHistory(format);
const pieces = [...history.pieces({ seed: Number(seed), bytesMin: Number(bytes), endMs: Date.now() })];
const startMs = performance.now();
let bytesParsed = 0;
let positions = 0;
for (const piece of pieces) {
  positions += history.parse(piece);
  bytesParsed += piece.length;
}
const seconds = (performance.now() - startMs) / 1000;
if (positions === 0) throw new Error("no positions");
console.log(bytesParsed / 1e6 / seconds);
