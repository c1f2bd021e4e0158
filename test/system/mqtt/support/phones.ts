import { locationBody, type Publisher } from "./publisher.ts";

/** A fleet that publishes numbered positions, each once, and knows which of them a server has. */

/** Phones take turns; each has a position a second. */
const PHONES = 20;

const PAGE = 1000;

export interface Position {
  readonly topic: string;
  readonly deviceId: string;
  readonly timestampSeconds: number;
}

/** The position of a number, a few hours back at most. */
export function positionOf(number: number, startSeconds: number): Position {
  const phone = number % PHONES;
  return {
    topic: `owntracks/user${phone}/pixel`,
    deviceId: `user${phone}:pixel`,
    timestampSeconds: startSeconds + Math.floor(number / PHONES),
  };
}

/** Publishes the positions from one number to another; resolves when the broker has them all. */
export async function publishPositions(
  publisher: Publisher,
  { from, to }: { readonly from: number; readonly to: number },
  startSeconds: number,
): Promise<void> {
  const sent: Promise<void>[] = [];
  for (let number = from; number < to; number++) {
    const { topic, timestampSeconds } = positionOf(number, startSeconds);
    sent.push(publisher.publish(topic, locationBody(number, timestampSeconds)));
  }
  await Promise.all(sent);
}

/** Every position that the server has of the fleet, as `device timestamp`, as often as it has it. */
export async function storedPositions(url: string, key: string, startSeconds: number): Promise<string[]> {
  const dayOf = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10);
  const dates = `start_date=${dayOf(startSeconds)}&end_date=${dayOf(Date.now() / 1000)}`;
  const stored: string[] = [];
  for (;;) {
    const path = `/api/v1/locations/history?${dates}&limit=${PAGE}&offset=${stored.length}`;
    const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });
    if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
    const { locations } = (await answer.json()) as { locations: { device_id: string; timestamp: number }[] };
    stored.push(...locations.map(({ device_id, timestamp }) => `${device_id} ${timestamp / 1000}`));
    if (locations.length < PAGE) return stored;
  }
}

/** The same of what was sent, in the order of the text. */
export function sentPositions(count: number, startSeconds: number): string[] {
  return Array.from({ length: count }, (_, number) => {
    const { deviceId, timestampSeconds } = positionOf(number, startSeconds);
    return `${deviceId} ${timestampSeconds}`;
  }).sort();
}
