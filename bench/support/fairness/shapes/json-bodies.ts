import { gzipSync } from "node:zlib";
import { reports } from "../attack/requests.ts";
import { sendAtPace } from "../attack/sending.ts";
import type { Shape } from "../shape.ts";

const NDJSON = "application/x-ndjson";

/** Bodies that decompress to 16 MiB of JSON without a valid report. */
export const JSON_BODIES: readonly Shape[] = [
  json("json-nested-objects", "objects in objects, 16 MiB", (bytes) => {
    const depth = Math.floor(bytes / 6);
    return [`{"a":`.repeat(depth), "1", "}".repeat(depth)];
  }),
  json("json-empty-objects", "5.6 million empty objects", (bytes) => [
    `{"locations":[`,
    "{},".repeat(bytes / 3 - 8),
    "{}]}",
  ]),
  json("json-empty-arrays", "5.6 million empty arrays beside no report", (bytes) => [
    `{"x":[`,
    "[],".repeat(bytes / 3 - 8),
    "[]]}",
  ]),
  json("json-distinct-keys", "an object of a million members", (bytes) => {
    const members = Array.from({ length: Math.floor(bytes / 12) }, (_, index) => `"${index}":0`);
    return ["{", members.join(","), "}"];
  }),
  json("json-escapes", "a text of 2.7 million escapes", (bytes) => [
    `{"device_id":"`,
    "\\u0041".repeat(bytes / 6 - 8),
    `"}`,
  ]),
  json("json-long-number", "a number of 16 million digits", (bytes) => [
    `{"device_id":"a","timestamp":1`,
    "0".repeat(bytes - 64),
    "}",
  ]),
  json("json-numbers", "8 million numbers where reports belong", (bytes) => [
    `{"locations":[`,
    "1,".repeat(bytes / 2 - 16),
    "1]}",
  ]),
  json(
    "ndjson-empty-lines",
    "16 million lines of NDJSON that are empty",
    (bytes) => ["\n".repeat(bytes)],
    NDJSON,
  ),
  json(
    "ndjson-tiny-lines",
    "5.6 million lines of NDJSON that are no report",
    (bytes) => ["{}\n".repeat(bytes / 3)],
    NDJSON,
  ),
];

function json(
  name: string,
  title: string,
  make: (bytes: number) => readonly string[],
  type = "application/json",
): Shape {
  return {
    name,
    title,
    directory: "plain",
    arm(target) {
      const body = gzipSync(make(target.bodyBytes).join(""), { level: 1 });
      const request = reports(target, body, { "content-type": type, "content-encoding": "gzip" });
      return () => sendAtPace(target, () => request);
    },
  };
}
