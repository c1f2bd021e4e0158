import { roughDuration } from "../../lib/text/duration.ts";
import { printableLine } from "../../lib/text/printable.ts";
import type { RemoteFinding, RemoteFindings } from "../../operator/remote/ask-findings.ts";
import type { Problem } from "../../operator/remote/checkup.ts";
import { countOf } from "../screen/layout.ts";

/** What was found, and at which address. */
export interface DoctorReport extends RemoteFindings {
  readonly url: string;
  readonly problems: readonly Problem[];
}

/** Sentences to act on, about one device or, where it is null, all. Ids are those of devices, which may be anything. */
export function doctorReport(
  { url, findings, total_count, mqtt, problems }: DoctorReport,
  deviceId: string | null,
): string {
  const sections = [
    ...findings.map(findingText),
    ...problems.map(({ what, advice }) => section(printableLine(url), [what, advice])),
  ];
  const more = total_count - findings.length;
  if (more > 0)
    sections.push(`${countOf(more, "older finding")} more; --device shows those of one device.\n`);
  if (sections.length === 0) sections.push(nothingText(deviceId));
  if (mqtt?.outage_seconds !== undefined) sections.push(outageText(mqtt.outage_seconds));
  if (!isHere(url)) sections.push(KEYS_IN_LOGS);
  return sections.join("\n");
}

function nothingText(deviceId: string | null): string {
  if (deviceId === null) return "Nothing is wrong with any device that was heard of.\n";
  return `${printableLine(`Nothing is wrong with device "${deviceId}", if it was heard of.`)}\n`;
}

function findingText({ device_id, client, at, what, measured, advice }: RemoteFinding): string {
  const title = `${device_id} (${client}), ${new Date(at).toISOString().slice(0, 16)}Z`;
  return section(printableLine(title), [what, measured, advice].map(printableLine));
}

function section(title: string, sentences: readonly string[]): string {
  return [title, ...sentences.map((sentence) => `  ${sentence}`), ""].join("\n");
}

function outageText(seconds: number): string {
  return `At the rate of the last hour the MQTT broker keeps what phones publish for ${roughDuration(seconds)} while the server is away.\n`;
}

/** This can't be seen from outside. */
const KEYS_IN_LOGS =
  "See that the proxy's log leaves out paths and queries of /ingest/ and /pub: keys stand in them.\n";

function isHere(url: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
}
