import { FORMATS } from "../../../../src/formats/read/formats.ts";
import { parseZone } from "../../../../src/model/time/zone.ts";
import { readWhole, sampleContent } from "../../../support/formats/read-file.ts";

/** Samples of formats of lines and bytes, and the format that each is of. */
const TABLE_SAMPLES = [
  ["csv/e7.csv", "csv"],
  ["csv/compass-letters.csv", "csv"],
  ["csv/semicolon-known-headers.csv", "csv"],
  ["csv/wherehouse.csv", "csv"],
  ["traccar/positions.csv", "csv"],
  ["nmea/log.nmea", "nmea"],
  ["owntracks/rec/anna/pixel7/2026-02.rec", "owntracks-rec"],
  ["fit/example.fit", "fit"],
  ["fit/no-positions.fit", "fit"],
] as const;

/** What is found in all of them, as JSON. */
export async function tableFindings(): Promise<string> {
  const findings: unknown[] = [];
  for (const [path, formatName] of TABLE_SAMPLES) {
    const format = FORMATS.find(({ name }) => name === formatName)!;
    findings.push(await readWhole(format, sampleContent(path, 100), { zone: parseZone("Europe/Berlin") }));
  }
  return JSON.stringify(findings);
}
