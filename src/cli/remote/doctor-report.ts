import { roughDuration } from "../../lib/text/duration.ts";
import { printableLine } from "../../lib/text/printable.ts";
import type { RemoteFinding, RemoteFindings, RemoteStored } from "../../operator/remote/ask-findings.ts";
import type { Problem } from "../../operator/remote/checkup.ts";
import { countOf } from "../screen/layout.ts";

export interface DoctorReport extends RemoteFindings {
  readonly url: string;
  readonly problems: readonly Problem[];
}

/** The findings as text. A null device means that the report is about all devices. */
export function doctorReport(
  { url, findings, total_count, stored, mqtt, problems }: DoctorReport,
  deviceId: string | null,
): string {
  const sections = [...findings.map(findingText), ...problems.map((problem) => problemText(url, problem))];
  const more = total_count - findings.length;
  if (more > 0)
    sections.push(`${countOf(more, "older finding")} more; --device shows those of one device.\n`);
  if (sections.length === 0) sections.push(nothingText(deviceId));
  if (deviceId === null && stored !== undefined) sections.push(...storedTexts(stored));
  if (mqtt?.outage_seconds !== undefined) sections.push(outageText(mqtt.outage_seconds));
  if (!isHere(url)) sections.push(KEYS_IN_LOGS);
  return sections.join("\n");
}

export function problemText(title: string, { what, advice }: Problem): string {
  return section(printableLine(title), [what, advice].map(printableLine));
}

function nothingText(deviceId: string | null): string {
  if (deviceId === null) return "No device that reported has a problem.\n";
  return `${printableLine(`Device "${deviceId}" has no problem, if it reported.`)}\n`;
}

function findingText({ device_id, name, client, at, what, measured, advice }: RemoteFinding): string {
  const device = name === undefined ? device_id : `${name}, ${device_id}`;
  const title = `${device} (${client}), ${new Date(at).toISOString().slice(0, 16)}Z`;
  return section(printableLine(title), [what, measured, advice].map(printableLine));
}

function section(title: string, sentences: readonly string[]): string {
  return [title, ...sentences.map((sentence) => `  ${sentence}`), ""].join("\n");
}

function storedTexts({ corrections, corrected_records, profiles }: RemoteStored): string[] {
  const parts = [
    ...(corrections > 0
      ? [`${countOf(corrections, "active correction")} of ${countOf(corrected_records, "record")}`]
      : []),
    ...(profiles > 0 ? [countOf(profiles, "device profile")] : []),
  ];
  return parts.length === 0 ? [] : [`The app has ${parts.join(" and ")}.\n`];
}

function outageText(seconds: number): string {
  return `At the rate of the last hour the MQTT broker can queue messages for ${roughDuration(seconds)} while the server is down.\n`;
}

/** The doctor can't check a proxy's log. */
const KEYS_IN_LOGS =
  "Make sure that the proxy does not log paths and queries of /ingest/ and /pub: they contain keys.\n";

function isHere(url: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
}
