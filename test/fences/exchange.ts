import { fail, ok, type Result } from "../../src/lib/result.ts";
import type { DegradedJourney } from "./degrade.ts";
import type { MadeEvent } from "./rules.ts";

/* Journeys for other programs and what these make of them, as lines of JSON. README.md has the form. */

export function journeyLine(index: number, { journey, batches, expected }: DegradedJourney): string {
  const fence = journey.site.feature;
  return JSON.stringify({ device_id: deviceIdOf(index), fence, batches, expected });
}

/** Device ids name journeys; the fence of each is another one. */
export function deviceIdOf(index: number): string {
  return `journey-${index + 1}`;
}

/** The events of each device id. The error names the line. */
export function parseEvents(text: string): Result<ReadonlyMap<string, readonly MadeEvent[]>, string> {
  const events = new Map<string, MadeEvent[]>();
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const event = parseEvent(line);
    if (event === null) return fail(`Line ${index + 1} is no event.`);
    const { deviceId, ...rest } = event;
    events.set(deviceId, [...(events.get(deviceId) ?? []), rest]);
  }
  return ok(events);
}

function parseEvent(line: string): (MadeEvent & { readonly deviceId: string }) | null {
  let members: Record<string, unknown>;
  try {
    members = Object(JSON.parse(line));
  } catch {
    return null;
  }
  const { device_id: deviceId, kind, timestamp } = members;
  if (typeof deviceId !== "string" || typeof timestamp !== "number") return null;
  return kind === "enter" || kind === "exit" ? { deviceId, kind, timestamp } : null;
}
