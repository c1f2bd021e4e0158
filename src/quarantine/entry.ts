import type { ClientName } from "../clients/client.ts";
import type { RefusalReason } from "../clients/refusal.ts";
import type { RefusedMessage } from "../clients/refused-message.ts";
import type { AppId } from "../model/ids.ts";

/** What the list tells of an entry: nothing of its body, nor of its parameters. */
export interface EntrySummary {
  /** Made of what was sent, so that the same from the same key always has the same. */
  readonly id: string;
  readonly appId: AppId;
  readonly keyId: string;
  readonly client: ClientName;
  readonly reason: RefusalReason;
  readonly deviceId: string | null;
  /** Of a broker; null for what came over HTTP. */
  readonly topic: string | null;
  readonly index: number | null;
  readonly isCut: boolean;
  readonly bodyBytes: number;
  readonly arrivedMs: number;
  /** When it came again, and how often it came in all; behind by up to an hour after a crash. */
  readonly lastArrivedMs: number;
  readonly count: number;
}

/** A whole entry. */
export interface QuarantineEntry {
  readonly summary: EntrySummary;
  readonly message: RefusedMessage;
}
