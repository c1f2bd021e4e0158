import { DEFAULT_GAP_MS } from "../../formats/write/record-writer.ts";
import type { FlagRows } from "../arguments/flag-row.ts";
import { APP, DEVICE, FILE, KEY, SERVER_URL, USER } from "../arguments/value-kinds.ts";
import { DATE, FORMAT, GAP, PACKING, SPLIT, TOLERANCE, ZONE } from "./value-kinds.ts";

/** What may be said of records that are exported. */
export const EXPORT_FLAGS = {
  appId: { name: "app", takes: APP, does: "the app whose records; with --url it must be the key's" },
  format: { name: "format", takes: FORMAT, required: true, does: "what is written, one of those below" },
  deviceIds: {
    name: "device",
    takes: DEVICE,
    repeats: true,
    otherwise: "all",
    does: "only records of this device",
  },
  userId: { name: "user", takes: USER, otherwise: "all", does: "only records of this user" },
  from: { name: "from", takes: DATE, otherwise: "all", does: "the first day, such as 2025-01-01" },
  to: { name: "to", takes: DATE, otherwise: "today", does: "the last day, included" },
  zone: {
    name: "timezone",
    takes: ZONE,
    otherwise: "UTC, and no local times",
    does: "the zone that days are of; adds local_time where a format has fields by name",
  },
  out: { name: "out", takes: FILE, default: "-", does: "where to write to; - is standard output" },
  force: { name: "force", does: "writes over files that are there" },
  packing: { name: "compress", takes: PACKING, otherwise: "not at all", does: "packs what is written" },
  split: {
    name: "split",
    takes: SPLIT,
    otherwise: "one file",
    does: "a file for each in the directory --out, which is made where it is missing",
  },
  simplifyMeters: {
    name: "simplify",
    takes: TOLERANCE,
    otherwise: "all records",
    does: "leaves out positions that lie so near to the track without them",
  },
  redact: { name: "redact", does: "numbers the devices in place of their names, and leaves out users" },
  recordSeparator: { name: "rs", does: "for geojsonseq: begins each line with RFC 8142's separator" },
  gapMs: {
    name: "gap",
    takes: GAP,
    default: DEFAULT_GAP_MS,
    does: "a silence after which tracks of gpx, kml and kmz begin anew",
  },
  url: { name: "url", takes: SERVER_URL, does: "a running server" },
  key: {
    name: "key",
    takes: KEY,
    goesWith: "url",
    variable: "WHEREHOUSE_KEY",
    does: "a key of it that may read; other users can't see the variable",
  },
} as const satisfies FlagRows;
