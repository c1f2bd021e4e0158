import { readdirSync } from "node:fs";
import { extname, join } from "node:path";
import { FORMATS } from "../../../../../src/formats/read/formats.ts";
import { readWhole, SAMPLES, sampleContent } from "../../../../support/formats/read-file.ts";

const FOLDERS = ["gpx", "gpx-gpxpy", "kml", "tcx", "traccar"];

/** What is found in all samples of XML, as JSON. */
export async function xmlFindings(): Promise<string> {
  const findings: unknown[] = [];
  for (const folder of FOLDERS) {
    for (const file of readdirSync(join(SAMPLES, folder)).sort()) {
      const format = FORMATS.find(({ name }) => `.${name}` === extname(file));
      if (format === undefined || !["gpx", "kml", "tcx"].includes(format.name)) continue;
      const found = await readWhole(format, sampleContent(`${folder}/${file}`, 100));
      findings.push({ file, ...found, error: found.error?.message });
    }
  }
  return JSON.stringify(findings);
}
