import { LOCATION_FIELDS } from "../../../model/location-fields.ts";
import { countOf } from "../../screen/layout.ts";
import type { CompleteExport } from "../command.ts";
import { type Gathered, subjectText } from "./gather.ts";

/* The README of a complete export, for a person who has never seen this program. */

export interface WrittenRecords {
  /** The name of the file. */
  readonly name: string;
  readonly records: number;
}

interface Archive {
  readonly command: Pick<CompleteExport, "deviceIds" | "userId" | "options">;
  readonly gathered: Gathered;
  readonly records: readonly WrittenRecords[];
  /** What the archive lacks, as sentences. */
  readonly notes: readonly string[];
  readonly nowMs: number;
}

export function readmeText({ command, gathered, records, notes, nowMs }: Archive): string {
  const { appId, deviceIds, profiles, corrections, refused, keys } = gathered;
  const subject = subjectText(command);
  const time = `${new Date(nowMs).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  const hasOriginals = gathered.recordSets.some(({ originals }) => originals);
  const fields = command.options.zone === null ? FIELDS : [...FIELDS, LOCAL_TIME];
  const files = [
    ...records.map(({ name, records }) => [name, `${countOf(records, "record")}: ${kindOf(name)}`]),
    [
      "profiles.json",
      `${countOf(profiles.length, "profile")}: names, colors, tags and metadata of the devices`,
    ],
    ...(corrections === null
      ? []
      : [
          [
            "corrections.json",
            `${countOf(corrections.length, "correction")} that an operator made, with notes`,
          ],
        ]),
    ["quarantine.json", `${countOf(refused.length, "message")} that could not be used, as they were sent`],
    ...(keys === null
      ? []
      : [["keys.json", `${countOf(keys.length, "key")} or share links: who may report, and who may watch`]]),
  ];
  return `${[
    `What is stored about ${subject}`,
    `A Wherehouse server stores positions that devices report. This archive has what its app "${appId}" stores
about ${subject}. It was made at ${time}.`,
    ...(command.userId === null
      ? []
      : [
          `Devices of the user: ${deviceIds.length === 0 ? "none" : deviceIds.map((id) => `"${id}"`).join(", ")}`,
          `Records are those that name the user. Profiles, corrections and messages are those of these devices. If other
people use the same devices, check these files before you pass them on.`,
        ]),
    `Files\n\n${tableOf(files)}`,
    recordsText(records.length > 0, hasOriginals, corrections === null),
    ...(notes.length === 0 ? [] : [`What is missing\n\n${notes.join("\n")}`]),
    `What is not in it

Keys are listed without their secrets, and passphrases are left out. A message that could not be used is missing if
it names none of the devices and came with none of the keys: nothing tells whose it is. Records that are
older than the server's retention are deleted already. Backups, the server's logs, files that were exported earlier
and copies on other computers are beyond this archive: ask the operator about them.`,
    `How to read the files

Open .csv in a spreadsheet, .geojson and .gpx in a map program, .json and this file in a text editor. An apostrophe
before =, +, - or @ in a .csv only keeps spreadsheets from running the text as a formula. Times such as
"timestamp", "created", "expires" and "arrived" are milliseconds since 1970-01-01 00:00 UTC. Positions are degrees
of latitude and longitude (WGS 84). A body that is not text is in Base64 ("body_base64").`,
    `What a record can have\n\n${tableOf(fields)}`,
  ].join("\n\n")}\n`;
}

function recordsText(hasRecords: boolean, hasOriginals: boolean, isUnknown: boolean): string {
  if (!hasRecords) return "There are no records of positions.";
  if (hasOriginals)
    return `as-shown is what the server's answers show: with corrections, which hide or change records. as-reported is
what the devices reported, before any correction. Each is there in three formats with the same records.`;
  return isUnknown
    ? "The records are as the server's answers show them, in three formats. Corrections may hide or change some."
    : "The records are as they were reported, since no correction is in effect, in three formats with the same records.";
}

function kindOf(name: string): string {
  if (name.endsWith(".csv")) return "every field, as a table";
  return name.endsWith(".gpx") ? "tracks, without the other fields" : "every field, as points on a map";
}

const FIELDS = [
  ["time", "The timestamp in ISO 8601 and UTC."],
  ...LOCATION_FIELDS.filter(({ column }) => column !== "derived").map(({ name, description }) => [
    name,
    description,
  ]),
];

const LOCAL_TIME = ["local_time", "The timestamp in the time zone that the operator chose."];

function tableOf(rows: readonly (readonly string[])[]): string {
  const width = Math.max(...rows.map(([name]) => name!.length));
  return rows.map(([name, text]) => `${name!.padEnd(width)}  ${text}`).join("\n");
}
