import type { ClientName } from "../../../clients/client.ts";
import type { PointCollector } from "./point-collector.ts";

/** The results of a message's points. */
interface CountedMessage {
  readonly collected: Pick<
    PointCollector,
    "refused" | "skipped" | "leftOut" | "timedByArrival" | "rolledOver"
  >;
  readonly accepted: number;
  readonly duplicates: number;
}

/** Counts messages of clients since the start. */
export class MessageCounts {
  /** By client and result. */
  readonly messages = new Map<ClientName, number>();
  readonly points = new Map<ClientName, PointCounts>();
  /** Points without a time, which got that of their arrival. */
  timesOfArrival = 0;
  /** Optional fields that were omitted because they could not be read or were out of range. */
  leftOutFields = 0;
  /** Times that were corrected by 1024 weeks. */
  rolledOverTimes = 0;

  note(client: ClientName, { collected, accepted, duplicates }: CountedMessage): void {
    this.messages.set(client, (this.messages.get(client) ?? 0) + 1);
    const points = this.#pointsOf(client);
    points.accepted += accepted;
    points.duplicates += duplicates;
    points.refused += collected.refused.length;
    for (const count of collected.skipped.values()) points.skipped += count;
    for (const { count } of collected.leftOut) this.leftOutFields += count;
    this.timesOfArrival += collected.timedByArrival;
    this.rolledOverTimes += collected.rolledOver;
  }

  #pointsOf(client: ClientName): PointCounts {
    let counts = this.points.get(client);
    if (counts === undefined) {
      counts = { accepted: 0, duplicates: 0, refused: 0, skipped: 0 };
      this.points.set(client, counts);
    }
    return counts;
  }
}

export interface PointCounts {
  accepted: number;
  duplicates: number;
  /** Stored in the quarantine. */
  refused: number;
  /** Contents other than positions: events, heartbeats. */
  skipped: number;
}
