import { FORMATS } from "../../../../../src/formats/read/formats.ts";
import { readWhole, sampleContent } from "../../../../support/formats/read-file.ts";
import { JSON_SAMPLES } from "./json-samples.ts";

/** What is found in all samples of JSON, as JSON. */
export async function jsonFindings(): Promise<string> {
  const findings: unknown[] = [];
  for (const [path, formatName] of JSON_SAMPLES) {
    const format = FORMATS.find(({ name }) => name === formatName)!;
    findings.push(await readWhole(format, sampleContent(path, 100)));
  }
  return JSON.stringify(findings);
}
