import type { RefusedMessage } from "../../clients/refused-message.ts";

/** What the list tells of an entry: nothing of its body, nor of its parameters. */
export interface EntrySummary extends ToldOfMessage {
  /** Made of what was sent, so that the same from the same key always has the same. */
  readonly id: string;
  readonly bodyBytes: number;
  /** When it came again, and how often it came in all; behind by up to an hour after a crash. */
  readonly lastArrivedMs: number;
  readonly count: number;
}

/** A whole entry. */
export interface QuarantineEntry {
  readonly summary: EntrySummary;
  readonly message: RefusedMessage;
}

/** Members of a message that the list tells. */
type ToldOfMessage = Pick<
  RefusedMessage,
  "appId" | "keyId" | "client" | "reason" | "deviceId" | "topic" | "index" | "isCut" | "arrivedMs"
>;

export function toldOf(message: ToldOfMessage): ToldOfMessage {
  const { appId, keyId, client, reason, deviceId, topic, index, isCut, arrivedMs } = message;
  return { appId, keyId, client, reason, deviceId, topic, index, isCut, arrivedMs };
}
